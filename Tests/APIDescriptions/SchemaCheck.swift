import SyncModel

/// Checks values by schemas: as much of JSON Schema as the descriptions use, and a complaint about anything else.
struct SchemaCheck {
    private static let known: Set<String> = [
        "$ref", "type", "enum", "properties", "required", "additionalProperties", "maxProperties", "items", "minItems",
        "maxItems", "oneOf", "anyOf", "minimum", "maximum", "minLength", "maxLength", "pattern", "description",
        "writeOnly",
    ]

    /// The whole description, which references point into.
    let root: JSONValue
    /// Whether the values are those of answers, in which some things must not be.
    var isAnswer = false

    func resolved(_ value: JSONValue) -> JSONValue {
        guard let reference = value["$ref"]?.stringValue else { return value }
        var target = root
        for step in reference.split(separator: "/").dropFirst() { target = target[String(step)] ?? .null }
        return target
    }

    /// The first thing that is wrong; nil if nothing is.
    func problem(of value: JSONValue, by given: JSONValue, at place: String) -> String? {
        let schema = resolved(given)
        guard let members = schema.objectValue else { return "\(place): there is no schema" }
        if let unknown = members.keys.first(where: { !Self.known.contains($0) }) {
            return "\(place): SchemaCheck does not know the keyword \(unknown)"
        }
        if let all = schema["enum"]?.arrayValue, !all.contains(value) { return "\(place): not one of its values" }
        for keyword in ["oneOf", "anyOf"] {
            guard let choices = schema[keyword]?.arrayValue else { continue }
            let fitting = choices.filter { problem(of: value, by: $0, at: place) == nil }.count
            guard keyword == "oneOf" ? fitting == 1 : fitting > 0 else {
                return "\(place): fits \(fitting) of \(keyword)"
            }
        }
        let types = schema["type"]?.arrayValue ?? schema["type"].map { [$0] } ?? []
        guard types.isEmpty || types.contains(where: { value.is($0.stringValue ?? "") }) else {
            return "\(place): of another type than described"
        }
        switch value {
        case .object(let members): return problem(of: members, by: schema, at: place)
        case .array(let elements):
            guard let items = schema["items"] else { return nil }
            return elements.enumerated().lazy
                .compactMap { problem(of: $1, by: items, at: "\(place)[\($0)]") }.first
        case .integer(let number):
            if let least = schema["minimum"]?.integerValue, number < least { return "\(place): less than \(least)" }
            if let most = schema["maximum"]?.integerValue, number > most { return "\(place): more than \(most)" }
            return nil
        case .string(let text):
            let count = Int64(text.unicodeScalars.count)
            if let least = schema["minLength"]?.integerValue, count < least { return "\(place): too short" }
            if let most = schema["maxLength"]?.integerValue, count > most { return "\(place): too long" }
            if let pattern = schema["pattern"]?.stringValue, let regex = try? Regex(pattern),
                text.firstMatch(of: regex) == nil
            {
                return "\(place): does not match \(pattern)"
            }
            return nil
        default: return nil
        }
    }

    private func problem(of members: [String: JSONValue], by schema: JSONValue, at place: String) -> String? {
        for key in schema["required"]?.arrayValue?.compactMap(\.stringValue) ?? [] where members[key] == nil {
            return "\(place): the key \(key) is missing"
        }
        if let most = schema["maxProperties"]?.integerValue, members.count > most { return "\(place): too many keys" }
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            let described: JSONValue
            if let property = schema["properties"]?[key] {
                described = property
            } else {
                switch schema["additionalProperties"] {
                case .bool(false): return "\(place): the key \(key) is not described"
                case let other?: described = other == .bool(true) ? [:] : other
                case nil: continue
                }
            }
            if isAnswer, described["writeOnly"] == .bool(true) { return "\(place): \(key) is not to be told" }
            if let found = problem(of: value, by: described, at: "\(place).\(key)") { return found }
        }
        return nil
    }
}

extension JSONValue {
    fileprivate func `is`(_ type: String) -> Bool {
        switch self {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .integer: type == "integer" || type == "number"
        case .number(let value): type == "number" || (type == "integer" && value.rounded() == value)
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }
}
