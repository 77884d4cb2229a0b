"""What a browser does in a sign-in: follows the authorization request to the redirect URI."""
from urllib.parse import parse_qsl, urlsplit

import requests

REDIRECT_URI = "http://localhost/callback"


def sign_in(authorization_url):
    """Returns the fields that the redirect carries."""
    response = requests.get(authorization_url, allow_redirects=False, timeout=30)
    assert response.status_code == 302, response.text
    return dict(parse_qsl(urlsplit(response.headers["Location"]).query))


def approve(url, user_code, username):
    """Enters a user code at the page of the other device."""
    response = requests.get(url, params={"code": user_code, "user": username}, timeout=30)
    response.raise_for_status()
