// ADALCompat
