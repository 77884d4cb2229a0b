"""Writes and reads MSAL Python's own token cache.

The first two talk to an identity provider, which versions before 1.20 cannot do on another port than 443; the last two
use the library's cache alone.

usage: msal_cache.py sign-in URL FILE USERNAME…   signs in at URL/common and writes the cache
       msal_cache.py silent URL FILE REALM         says what a cache answers at URL/REALM, without redeeming anything
       msal_cache.py add HOST FILE USERNAME…      adds made-up answers of HOST/common to the cache and writes it
       msal_cache.py find HOST FILE               says which access tokens the cache finds for HOST/common
"""
import base64
import json
import pathlib
import sys

import msal
import requests
from urllib.parse import parse_qsl, urlsplit

CLIENT_ID = "11111111-2222-3333-4444-555555555555"
SCOPES = ["User.Read"]
REDIRECT_URI = "http://localhost/callback"


class Offline(Exception):
    pass


def application(url, realm, cache):
    return msal.PublicClientApplication(
        CLIENT_ID, authority=f"{url}/{realm}", validate_authority=False, token_cache=cache)


def sign_in(url, file, *usernames):
    cache = msal.SerializableTokenCache()
    app = application(url, "common", cache)
    tokens = {}
    for username in usernames:
        page = app.get_authorization_request_url(SCOPES, redirect_uri=REDIRECT_URI, login_hint=username)
        answer = requests.get(page, allow_redirects=False, timeout=30)
        code = dict(parse_qsl(urlsplit(answer.headers["Location"]).query))["code"]
        result = app.acquire_token_by_authorization_code(code, SCOPES, redirect_uri=REDIRECT_URI)
        tokens[username] = result["access_token"]
    pathlib.Path(file).write_text(cache.serialize())
    print(json.dumps(tokens))


def silent(url, file, realm):
    cache = msal.SerializableTokenCache()
    cache.deserialize(pathlib.Path(file).read_text())
    app = application(url, realm, cache)

    def post(*arguments, **named):
        raise Offline("nothing may be redeemed")

    requests.Session.post = post
    tokens = {}
    for account in app.get_accounts():
        result = app.acquire_token_silent(SCOPES, account) or {}
        tokens[account["username"]] = [account["home_account_id"], result.get("access_token")]
    print(json.dumps(tokens))


def segment(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def add(host, file, *usernames):
    cache = msal.SerializableTokenCache()
    tokens = {}
    for number, username in enumerate(usernames):
        person, tenant = f"00000000-0000-4000-8000-00000000000{number}", "99999999-0000-4000-8000-000000000000"
        claims = {"ver": "2.0", "oid": person, "tid": tenant, "sub": "s", "preferred_username": username,
                  "aud": CLIENT_ID, "iss": "i", "exp": 4000000000, "iat": 1}
        tokens[username] = f"AT-{number}"
        cache.add({
            "client_id": CLIENT_ID, "scope": SCOPES, "token_endpoint": f"https://{host}/common/oauth2/v2.0/token",
            "response": {
                "access_token": tokens[username], "expires_in": 3600, "token_type": "Bearer",
                "refresh_token": f"RT-{number}", "client_info": segment({"uid": person, "utid": tenant}),
                "id_token": f"{segment({})}.{segment(claims)}.s",
            },
        })
    pathlib.Path(file).write_text(cache.serialize())
    print(json.dumps(tokens))


def find(host, file):
    cache = msal.SerializableTokenCache()
    cache.deserialize(pathlib.Path(file).read_text())
    kinds = msal.TokenCache.CredentialType
    tokens = {}
    for account in list(cache.find(kinds.ACCOUNT, query={"environment": host})):
        found = list(cache.find(kinds.ACCESS_TOKEN, target=SCOPES, query={
            "client_id": CLIENT_ID, "environment": host, "realm": "common",
            "home_account_id": account["home_account_id"]}))
        refresh = list(cache.find(kinds.REFRESH_TOKEN, query={
            "client_id": CLIENT_ID, "environment": host, "home_account_id": account["home_account_id"]}))
        tokens[account["username"]] = [token["secret"] for token in found + refresh]
    print(json.dumps(tokens))


if __name__ == "__main__":
    {"sign-in": sign_in, "silent": silent, "add": add, "find": find}[sys.argv[1]](*sys.argv[2:])
