#!/usr/bin/python3
"""An app in Python: gets a token, and signs in with a code when it has to."""

import argparse
import sys

import sso_agent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--client-id", required=True)
    parser.add_argument("--scope", action="append", required=True)
    parser.add_argument("--authority", help="by default https://login.microsoftonline.com/common")
    parser.add_argument("--username", help="by default the only account of the app")
    parser.add_argument("--list", action="store_true", help="list the accounts instead")
    options = parser.parse_args()

    def show_code(page, code):
        print(f"Open {page} and enter the code {code}", file=sys.stderr, flush=True)

    try:
        with sso_agent.Agent("notes.py") as agent:
            if options.list:
                for account in agent.accounts(options.client_id):
                    print(account.username.decode(), account.home_account_id.decode())
                return
            try:
                result = agent.token(options.client_id, options.scope, options.username, options.authority)
            except sso_agent.AgentError as error:
                if not error.needs_sign_in:
                    raise
                result = agent.sign_in(options.client_id, options.scope, show_code, options.authority)
            print(f"a token of {result.account.username.decode()} for {b' '.join(result.scopes).decode()}")
            print(f"from the cache: {'yes' if result.is_from_cache else 'no'}")
    except sso_agent.AgentError as error:
        sys.exit(f"{error.code}: {error}")


if __name__ == "__main__":
    main()
