/// The form of the report for scripts: an object a file.
extension FileReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case file, unit, passed, failed, accepted, note, differenceCount = "difference_count", differences, errors, ok
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(file, forKey: .file)
        try container.encode(unit.rawValue, forKey: .unit)
        try container.encode(hasPassed, forKey: .ok)
        try container.encode(verdict.passed, forKey: .passed)
        try container.encode(verdict.failed, forKey: .failed)
        try container.encode(accepted, forKey: .accepted)
        try container.encodeIfPresent(note, forKey: .note)
        try container.encode(differenceCount, forKey: .differenceCount)
        try container.encode(differences, forKey: .differences)
        try container.encode(errors.map(\.description), forKey: .errors)
    }
}

extension Difference: Encodable {
    private enum CodingKeys: String, CodingKey {
        case kind, line, event, peer, from, version, message, expected, ours, firstDifference = "first_difference"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind.rawValue, forKey: .kind)
        try container.encode(line, forKey: .line)
        try container.encode(event, forKey: .event)
        try container.encodeIfPresent(peer, forKey: .peer)
        try container.encodeIfPresent(from, forKey: .from)
        try container.encodeIfPresent(version, forKey: .version)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(comparison?.expected, forKey: .expected)
        try container.encodeIfPresent(comparison?.ours, forKey: .ours)
        try container.encodeIfPresent(comparison?.firstDifference, forKey: .firstDifference)
    }
}
