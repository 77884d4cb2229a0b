// MSALCompat
