/// Something that was read of a store, to be compared with what another engine has of it.
struct Reading: Sendable {
    let what: String
    let value: any Equatable & Sendable

    init(_ what: String, _ value: any Equatable & Sendable) {
        self.what = what
        self.value = value
    }

    func agrees(with other: Reading) -> Bool { what == other.what && Self.areEqual(value, other.value) }

    private static func areEqual<Value: Equatable>(_ value: Value, _ other: any Equatable) -> Bool {
        other as? Value == value
    }
}

extension [Reading] {
    /// What differs between the engines, with what each of them has; nil if nothing does.
    static func difference(_ readings: [(engine: String, found: [Reading])]) -> String? {
        guard let first = readings.first else { return nil }
        var lines: [String] = []
        var others = 0
        for (index, expected) in first.found.enumerated() {
            guard !readings.allSatisfy({ $0.found.count > index && $0.found[index].agrees(with: expected) }) else {
                continue
            }
            guard lines.count < 15 else {
                others += 1
                continue
            }
            lines.append("\(expected.what):")
            lines += readings.map {
                "  \($0.engine): \($0.found.count > index ? "\($0.found[index].value)" : "nothing")"
            }
        }
        guard !lines.isEmpty else { return nil }
        return (lines + ["and \(others) other readings"]).joined(separator: "\n")
    }
}
