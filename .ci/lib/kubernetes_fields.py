"""Fields of Kubernetes objects, compared with what Kubernetes and its operators know; .ci/kubernetes uses it."""
import glob
import os
import re

import yaml

# --- Kubernetes' own kinds, by the models of its client.

# Fields that are newer than the client that Debian has.
NEWER = {"matchLabelKeys", "nodeTaintsPolicy", "unhealthyPodEvictionPolicy"}
NEWER_KINDS = {("autoscaling/v2", "HorizontalPodAutoscaler"): "V2beta2HorizontalPodAutoscaler"}


def check_native(where, document, complain, skipped):
    try:
        from kubernetes import client
    except ImportError:
        note = "fields of Kubernetes' own kinds: needs Debian's package python3-kubernetes"
        if note not in skipped:
            skipped.append(note)
        return
    kind, version = document["kind"], document["apiVersion"].split("/")[-1]
    name = NEWER_KINDS.get((document["apiVersion"], kind), version[0].upper() + version[1:] + kind)
    model = getattr(client.models, name, None)
    if model is None:
        complain(where, f"there is no kind {document['apiVersion']} {kind}")
        return

    def walk(value, wanted, path):
        if value is None:
            return
        listed = re.fullmatch(r"list\[(.+)\]", wanted)
        mapped = re.fullmatch(r"dict\(str, (.+)\)", wanted)
        if listed:
            if not isinstance(value, list):
                complain(where, f"{path}: expected a list")
                return
            for number, item in enumerate(value):
                walk(item, listed[1], f"{path}[{number}]")
        elif mapped:
            for key, item in value.items():
                walk(item, mapped[1], f"{path}.{key}")
        elif hasattr(client.models, wanted):
            nested = getattr(client.models, wanted)
            fields = {json: nested.openapi_types[own] for own, json in nested.attribute_map.items()}
            if not isinstance(value, dict):
                complain(where, f"{path}: expected {wanted}")
                return
            for key, item in value.items():
                if key in fields:
                    walk(item, fields[key], f"{path}.{key}")
                elif key not in NEWER:
                    complain(where, f"{path} has no field {key}")
        elif wanted == "int" and not (isinstance(value, int) and not isinstance(value, bool)):
            complain(where, f"{path}: expected a number, found {value!r}")
        elif wanted == "str" and not isinstance(value, str):
            complain(where, f"{path}: expected a text, found {value!r}")
        elif wanted == "bool" and not isinstance(value, bool):
            complain(where, f"{path}: expected true or false, found {value!r}")

    walk(document, name, kind)
    try:
        # Building the models finds what must be there and is not.
        client.ApiClient()._ApiClient__deserialize(document, name)
    except ValueError as error:
        complain(where, str(error))


# --- The operators' kinds, by their custom resource definitions.

def definitions(folder):
    found = {}
    for path in glob.glob(os.path.join(folder, "*.yaml")):
        for document in yaml.safe_load_all(open(path, encoding="utf-8")):
            for version in document["spec"]["versions"] if document else []:
                key = (f"{document['spec']['group']}/{version['name']}", document["spec"]["names"]["kind"])
                found[key] = version["schema"]["openAPIV3Schema"]
    return found


def check_custom(where, document, schema, complain):
    import jsonschema

    for error in jsonschema.Draft7Validator(schema).iter_errors(document):
        complain(where, f"{'.'.join(map(str, error.path))}: {error.message[:200]}")

    def walk(value, schema, path):
        if isinstance(value, dict) and "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
            for key, item in value.items():
                if key in schema["properties"]:
                    walk(item, schema["properties"][key], f"{path}.{key}")
                elif "additionalProperties" not in schema and path != "":
                    complain(where, f"{path} has no field {key}")
        elif isinstance(value, list) and "items" in schema:
            for item in value:
                walk(item, schema["items"], path + "[]")

    walk({key: value for key, value in document.items() if key == "spec"}, schema, "")
