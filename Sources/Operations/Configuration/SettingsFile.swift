/// The names in a settings file, to find those that nobody reads. Reading the settings themselves is done by a YAML parser;
/// this only follows block mappings, which is how settings are written.
package enum SettingsFile {
    /// The dotted keys that have a value, in order.
    package static func keys(in text: String) -> [String] {
        var open: [(indent: Int, key: String)] = []
        var keys: [String] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let indent = line.prefix { $0 == " " }.count
            let content = line.dropFirst(indent)
            guard let first = content.first, first != "#", first != "-", content != "---", content != "..." else {
                continue
            }
            guard let (name, value) = split(content) else { continue }
            while let last = open.last, last.indent >= indent { open.removeLast() }
            let key = (open.map(\.key) + [name]).joined(separator: ".")
            if value.isEmpty || value.hasPrefix("#") {
                open.append((indent, name))
            } else {
                keys.append(key)
            }
        }
        return keys
    }

    /// A mapping's key and what follows it on the line.
    private static func split(_ content: Substring) -> (name: String, value: Substring)? {
        var rest = content
        let name: Substring
        if let quote = rest.first, quote == "\"" || quote == "'" {
            rest = rest.dropFirst()
            guard let end = rest.firstIndex(of: quote) else { return nil }
            name = rest[..<end]
            rest = rest[rest.index(after: end)...].drop { $0 == " " }
            guard rest.first == ":" else { return nil }
            rest = rest.dropFirst()
        } else {
            guard
                let end = rest.indices.first(where: { index in
                    guard rest[index] == ":" else { return false }
                    let next = rest.index(after: index)
                    return next == rest.endIndex || rest[next] == " "
                })
            else { return nil }
            name = rest[..<end]
            rest = rest[rest.index(after: end)...]
        }
        let trimmed = String(name.reversed().drop { $0 == " " }.reversed())
        return trimmed.isEmpty ? nil : (trimmed, rest.drop { $0 == " " })
    }
}
