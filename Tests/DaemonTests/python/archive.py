"""Reads an ADAL archive with Python's plistlib, as an independent check of its form, and prints what it holds.

usage: archive.py FILE
"""
import json
import plistlib
import sys


def main(file):
    archive = plistlib.load(open(file, "rb"))
    assert archive["$archiver"] == "NSKeyedArchiver" and archive["$version"] == 100000
    objects = archive["$objects"]

    def resolve(value):
        return objects[value.data] if isinstance(value, plistlib.UID) else value

    def name(value):
        return resolve(value["$class"])["$classname"]

    def dictionary(value):
        return {
            key if isinstance(key, str) else json.dumps(fields(key), sort_keys=True): resolve(item)
            for key, item in zip(map(resolve, value["NS.keys"]), value["NS.objects"])
        }

    def fields(value):
        return {
            key: item for key, item in ((key, resolve(item)) for key, item in value.items() if key != "$class")
            if isinstance(item, (str, float)) and item != "$null"
        }

    root = resolve(archive["$top"]["root"])
    assert name(root) == "NSDictionary"
    cache = dictionary(root)
    assert cache["version"] == 1.0
    tokens = dictionary(cache["tokenCache"])["tokens"]
    found = {}
    for user, items in dictionary(tokens).items():
        # ADAL goes on writing to these, and refuses any others.
        for container in (cache["tokenCache"], tokens, items):
            assert name(container) == "NSMutableDictionary"
        found[user] = []
        for item in dictionary(items).values():
            assert name(item) == "ADTokenCacheStoreItem"
            found[user].append(fields(item))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
