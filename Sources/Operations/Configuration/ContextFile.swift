import Foundation

/// An operator's clusters, in a file that nobody else may write: who could would lead commands, and the tokens that they bear, elsewhere.
package struct ContextFile: Codable, Sendable, Equatable {
    /// The name of the context that holds where nobody names one.
    package var current: String?
    package private(set) var contexts: [ClusterContext] = []

    package init() {}

    private static let maxBytes = 1 << 20
    package static let maxContexts = 1_000

    /// `SLUICE_CONTEXTS`, else `sluice/contexts.json` where programs keep what they are told.
    package static func path(in environment: [String: String]) -> String {
        if let named = environment["SLUICE_CONTEXTS"], !named.isEmpty { return named }
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            return "\(folder)/sluice/contexts.json"
        }
        return "\(environment["HOME"] ?? ".")/.config/sluice/contexts.json"
    }

    /// Reads the file; one that is not there has no contexts.
    package static func read(_ path: String) throws(OperationsError) -> ContextFile {
        guard FileManager.default.fileExists(atPath: path) else { return ContextFile() }
        func unreadable(_ why: String, _ error: (any Error)? = nil) -> OperationsError {
            OperationsError(.unreadableFile, "the contexts in \(path) cannot be read: \(why)", underlying: error)
        }
        do {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            guard let mode = (facts[.posixPermissions] as? NSNumber)?.intValue, mode & 0o022 == 0 else {
                throw unreadable("others may write it: chmod 600")
            }
            guard let size = (facts[.size] as? NSNumber)?.intValue, size <= maxBytes else {
                throw unreadable("it has more than \(maxBytes) bytes")
            }
            let file = try JSONDecoder().decode(ContextFile.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
            for context in file.contexts { try context.validate() }
            return file
        } catch let error as OperationsError {
            throw error
        } catch {
            throw unreadable("it is not what `sluice context` writes", error)
        }
    }

    /// Writes the file whole or not at all, for its owner's eyes.
    package func write(_ path: String) throws(OperationsError) {
        let place = URL(fileURLWithPath: path)
        let folder = place.deletingLastPathComponent()
        let draft = folder.appendingPathComponent(".\(place.lastPathComponent).\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let made = FileManager.default.createFile(
                atPath: draft.path, contents: try encoder.encode(self), attributes: [.posixPermissions: 0o600])
            guard made, rename(draft.path, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(at: draft)
            throw OperationsError(.unreadableFile, "the contexts cannot be written to \(path)", underlying: error)
        }
    }

    /// - Throws: `unknownSetting` if there is none of the name.
    package func context(_ name: String) throws(OperationsError) -> ClusterContext {
        guard let found = contexts.first(where: { $0.name == name }) else {
            let names = contexts.map(\.name).joined(separator: ", ")
            throw OperationsError(
                .unknownSetting, "there is no context \(name)" + (names.isEmpty ? "" : "; there are \(names)"))
        }
        return found
    }

    /// Adds a context, or puts it in the place of the one of its name.
    package mutating func add(_ context: ClusterContext) throws(OperationsError) {
        try context.validate()
        contexts.removeAll { $0.name == context.name }
        guard contexts.count < Self.maxContexts else {
            throw OperationsError(.invalidSetting, "there are \(Self.maxContexts) contexts already")
        }
        contexts.append(context)
        contexts.sort { $0.name < $1.name }
    }

    package mutating func remove(_ name: String) throws(OperationsError) {
        _ = try context(name)
        contexts.removeAll { $0.name == name }
        if current == name { current = nil }
    }

    /// The context that a command works with; nil: it goes by the environment.
    ///
    /// - Parameters:
    ///   - name: what the command was told; nil: `SLUICE_CONTEXT`.
    ///   - isElsewhere: whether flags of the command say which cluster it is for.
    package static func chosen(
        _ name: String?, in environment: [String: String], isElsewhere: Bool
    ) throws(OperationsError) -> ClusterContext? {
        let name = (name ?? environment["SLUICE_CONTEXT"]).flatMap { $0.isEmpty ? nil : $0 }
        let isSaid = isElsewhere || ClusterContext.rivals.contains { environment[$0]?.isEmpty == false }
        guard name != ClusterContext.none, name != nil || !isSaid else { return nil }
        let file = try read(path(in: environment))
        return try (name ?? file.current).map { name throws(OperationsError) in try file.context(name) }
    }
}
