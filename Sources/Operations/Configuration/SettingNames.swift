#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A name that is given where settings are given, and that nobody reads.
package struct UnknownSetting: Sendable, Equatable, CustomStringConvertible {
    package var name: String
    /// The settings file; nil for an environment variable.
    package var file: String?
    /// The known name that is most like it, if one is.
    package var nearest: String?

    package var description: String {
        let place = file.map { "\(name) in \($0)" } ?? name
        return "\(place) is no setting" + (nearest.map { ": did you mean \($0)?" } ?? "")
    }
}

/// The names of settings: whoever misspells one would run with a default without hearing of it.
package enum SettingNames {
    /// The environment variables that Sluice's programs read beside the settings.
    static let others: Set<String> = [
        "SLUICE_CONFIG", "SLUICE_COORDINATOR_URL", "SLUICE_MANAGEMENT_URL", "SLUICE_MANAGEMENT_CREDENTIALS",
        "SLUICE_CONTEXT", "SLUICE_CONTEXTS",
    ]
    /// The variables of the project's own tests and tools, which are in the shells of people who work on it.
    private static let tools: Set<String> = [
        "SLUICE_STRICT", "SLUICE_VECTORS", "SLUICE_REQUIRE_BROKER", "SLUICE_CHAOS_SEED",
    ]
    private static let toolPrefixes = ["SLUICE_TEST_", "SLUICE_BROKER_"]

    /// Every name that is given and that nobody reads.
    /// - Throws: `unreadableFile`.
    package static func unknown(
        in environment: [String: String], file: String?
    ) throws(OperationsError) -> [UnknownSetting] {
        let known = Set(SluiceConfiguration().settings.map(\.key))
        let variables = Set(known.map(SluiceConfiguration.environmentName)).union(others)
        var found: [UnknownSetting] = []
        for name in environment.keys.sorted()
        where name.hasPrefix("SLUICE_") && !variables.contains(name) && !tools.contains(name)
            && !toolPrefixes.contains(where: name.hasPrefix)
        {
            found.append(UnknownSetting(name: name, nearest: nearest(to: name, among: variables)))
        }
        guard let file, !file.isEmpty else { return found }
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw OperationsError(.unreadableFile, "the configuration file \(file) cannot be read")
        }
        for key in SettingsFile.keys(in: text) where !known.contains(key) {
            found.append(UnknownSetting(name: key, file: file, nearest: nearest(to: key, among: known)))
        }
        return found
    }

    static func nearest(to name: String, among known: Set<String>) -> String? {
        let near = known.map { (distance(name, $0), $0) }.min { $0 < $1 }
        return near.flatMap { $0.0 <= 3 ? $0.1 : nil }
    }

    /// How many bytes must be changed, added or removed to turn one name into the other.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let above = row[j + 1]
                row[j + 1] = min(above + 1, row[j] + 1, diagonal + (a == b ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}
