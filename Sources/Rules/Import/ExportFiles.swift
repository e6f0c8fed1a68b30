import SyncModel

/// Why an export cannot be read.
package struct ExportProblem: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// The files of an exported App Services app that say something of its rules, by their paths in its folder.
package struct ExportFiles: Sendable {
    /// The bounds of an export: files, and bytes of one and of all that are wanted.
    package static let maxFiles = 20_000
    package static let maxFileBytes = 4 << 20
    package static let maxBytes = 64 << 20

    private static let folders: Set<Substring> = [
        "sync", "data_sources", "services", "values", "environments", "auth", "auth_providers",
    ]

    /// What says of the app itself, by the layout's age.
    static let roots = ["root_config.json", "realm_config.json", "config.json", "stitch.json"]

    private let files: [String: [UInt8]]
    let paths: [String]

    /// - Parameter files: by path, `sync/config.json`. An archive may have the whole app in one folder.
    package init(_ files: [String: [UInt8]]) {
        self.files = Self.isRoot(of: files.keys) ? files : Self.inside(files)
        paths = self.files.keys.sorted()
    }

    /// Says that a file may have to be read. What it takes is small: exports hold the files of hosted pages and functions, too.
    package static func isWanted(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasSuffix(".json"), parts.count <= maxDepth, !parts.contains("node_modules") else { return false }
        // The second place is that of an archive which has the whole app in one folder.
        return parts.prefix(2).contains(where: folders.contains)
            || (parts.count <= 2 && parts.last.map { roots.contains(String($0)) } == true)
    }

    /// Says that a folder may hold files that are wanted.
    package static func mayHold(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count < maxDepth && !parts.contains("node_modules")
            && (parts.count == 1 || parts.prefix(2).contains(where: folders.contains))
    }

    private static let maxDepth = 6

    private static func isRoot(of paths: some Sequence<String>) -> Bool {
        paths.contains { path in
            roots.contains(path) || ["sync/", "data_sources/", "services/"].contains(where: path.hasPrefix)
        }
    }

    private static func inside(_ files: [String: [UInt8]]) -> [String: [UInt8]] {
        let tops = Set(files.keys.map { $0.prefix { $0 != "/" } })
        guard tops.count == 1, let top = tops.first else { return files }
        return Dictionary(files.map { (String($0.key.dropFirst(top.count + 1)), $0.value) }) { first, _ in first }
    }

    func has(_ folder: String) -> Bool { paths.contains { $0.hasPrefix(folder + "/") } }

    /// The folders and files right in a folder.
    func names(in folder: String) -> [String] {
        let names = paths.lazy.filter { $0.hasPrefix(folder + "/") }
            .compactMap { $0.dropFirst(folder.count + 1).split(separator: "/").first }
        return Set(names).map(String.init).sorted()
    }

    /// Nil if there is no such file.
    func json(_ path: String) throws(ExportProblem) -> JSONValue? {
        guard let bytes = files[path] else { return nil }
        do {
            return try JSONParser.parse(bytes)
        } catch {
            throw ExportProblem("\(path): no JSON: \(error.message)")
        }
    }

    /// Nil if there is no such file; what is in it must be an object.
    func object(_ path: String) throws(ExportProblem) -> [String: JSONValue]? {
        guard let json = try json(path) else { return nil }
        guard let members = json.objectValue else { throw ExportProblem("\(path): expected a JSON object") }
        return members
    }
}
