"""Signs in with ADAL Python, in every way that the emulator serves, and prints what came of it as JSON.

usage: REQUESTS_CA_BUNDLE=FILE sign_in_adal.py URL
"""
import json
import sys
from urllib.parse import urlencode

import adal

from browser import REDIRECT_URI, approve, sign_in

CLIENT_ID = "11111111-2222-3333-4444-555555555555"
RESOURCE = "https://graph.example"


def result_of(reply):
    return {
        "username": reply.get("userId"),
        "tenant_id": reply.get("tenantId"),
        "resource": reply.get("resource"),
        "expires_in": reply.get("expiresIn"),
        "has_access_token": "accessToken" in reply,
        "has_refresh_token": "refreshToken" in reply,
    }


def main(url):
    context = adal.AuthenticationContext(f"{url}/common", validate_authority=False)

    query = urlencode({
        "client_id": CLIENT_ID, "response_type": "code", "redirect_uri": REDIRECT_URI,
        "resource": RESOURCE, "state": "s", "login_hint": "alice@contoso.example"})
    code = sign_in(f"{url}/common/oauth2/authorize?{query}")["code"]
    interactive = context.acquire_token_with_authorization_code(code, REDIRECT_URI, RESOURCE, CLIENT_ID, None)
    refreshed = context.acquire_token_with_refresh_token(interactive["refreshToken"], CLIENT_ID, RESOURCE)

    started = context.acquire_user_code(RESOURCE, CLIENT_ID)
    approve(started["verification_url"], started["user_code"], "bob@contoso.example")
    device = context.acquire_token_with_device_code(RESOURCE, started, CLIENT_ID)
    cached = context.acquire_token(RESOURCE, "bob@contoso.example", CLIENT_ID)
    other = context.acquire_token("https://vault.example", "bob@contoso.example", CLIENT_ID)

    print(json.dumps({
        "interactive": result_of(interactive),
        "refreshed": result_of(refreshed),
        "device": result_of(device),
        "cached": result_of(cached),
        "other": result_of(other),
    }))


if __name__ == "__main__":
    main(*sys.argv[1:])
