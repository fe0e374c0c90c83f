#!/bin/sh
# Compiles the seeds into the corpus, with all debug tables.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
javac -g --release 17 -d "$out" Seeds.java
for class in "$out"/*.class; do
    cp "$class" "../corpus/classfile/$(basename "$class" .class | tr '$' .)"
done
