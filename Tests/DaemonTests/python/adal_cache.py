"""Writes ADAL Python's own token cache.

usage: adal_cache.py sign-in URL FILE USERNAME…   signs in at URL/common with a device code and writes the cache
"""
import json
import pathlib
import sys

import adal
import requests

CLIENT_ID = "11111111-2222-3333-4444-555555555555"
RESOURCE = "https://graph.example"


def sign_in(url, file, *usernames):
    cache = adal.TokenCache()
    context = adal.AuthenticationContext(f"{url}/common", validate_authority=False, cache=cache)
    tokens = {}
    for username in usernames:
        started = context.acquire_user_code(RESOURCE, CLIENT_ID)
        requests.get(
            started["verification_url"], params={"code": started["user_code"], "user": username}, timeout=30
        ).raise_for_status()
        tokens[username] = context.acquire_token_with_device_code(RESOURCE, started, CLIENT_ID)["accessToken"]
    pathlib.Path(file).write_text(cache.serialize())
    print(json.dumps(tokens))


if __name__ == "__main__":
    {"sign-in": sign_in}[sys.argv[1]](*sys.argv[2:])
