"""Signs in with MSAL Python, in every way that the emulator serves, and prints what came of it as JSON.

usage: REQUESTS_CA_BUNDLE=FILE sign_in_msal.py URL
"""
import json
import sys

import msal

from browser import REDIRECT_URI, approve, sign_in

CLIENT_ID = "11111111-2222-3333-4444-555555555555"
SCOPES = ["User.Read"]


def result_of(reply):
    claims = reply.get("id_token_claims", {})
    return {
        "error": reply.get("error"),
        "username": claims.get("preferred_username"),
        "tenant_id": claims.get("tid"),
        "token_source": reply.get("token_source"),
        "has_access_token": "access_token" in reply,
    }


def main(url):
    app = msal.PublicClientApplication(CLIENT_ID, authority=f"{url}/common", instance_discovery=False)

    flow = app.initiate_auth_code_flow(SCOPES, redirect_uri=REDIRECT_URI, login_hint="alice@contoso.example")
    interactive = app.acquire_token_by_auth_code_flow(flow, sign_in(flow["auth_uri"]))
    account = app.get_accounts("alice@contoso.example")[0]

    cached = app.acquire_token_silent_with_error(SCOPES, account)
    refreshed = app.acquire_token_silent_with_error(SCOPES, account, force_refresh=True)
    elsewhere = msal.PublicClientApplication(
        CLIENT_ID, authority=f"{url}/fabrikam.example", instance_discovery=False, token_cache=app.token_cache)
    guest = elsewhere.acquire_token_silent_with_error(SCOPES, account)

    flow = app.initiate_device_flow(SCOPES)
    approve(flow["verification_uri"], flow["user_code"], "bob@outlook.com")
    device = app.acquire_token_by_device_flow(flow)

    print(json.dumps({
        "interactive": result_of(interactive),
        "home_account_id": account["home_account_id"],
        "cached": result_of(cached),
        "refreshed": result_of(refreshed),
        "guest": result_of(guest),
        "device": result_of(device),
    }))


if __name__ == "__main__":
    main(*sys.argv[1:])
