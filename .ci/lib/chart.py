"""Renders the chart of deploy/helm by Helm's own library, which the Python package of .ci/chart.txt has in it:

  chart.py CHART RELEASE NAMESPACE VALUES...    prints a JSON object: the texts of the templates by their paths, and what Helm's lint says

Each file of values takes precedence over those before it, and the chart's own values come first.
"""
import json
import sys

import helm_python as helm
import yaml


def merged(below, above):
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}


def main(path, release, namespace, *files):
    values = {}
    for file in files:
        with open(file, encoding="utf-8") as text:
            values = merged(values, yaml.safe_load(text) or {})
    with helm.Chart.load(path) as chart:
        rendered = chart.render(values, name=release, namespace=namespace)
    print(json.dumps({"rendered": rendered, "lint": helm.lint(path)}))


main(*sys.argv[1:])
