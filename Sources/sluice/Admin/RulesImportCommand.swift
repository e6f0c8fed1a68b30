import ArgumentParser
import Foundation
import Rules
import SyncModel

struct RulesImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Make a rules document of an exported App Services app.",
        discussion: """
            Prints the document, and what is wrong with it on standard error; asks no coordinator. sluice rules set APP - puts it in \
            force.
            """)
    @Argument(help: "The export's folder, with sync/config.json in it.") var folder: String
    @Option(help: "The environment whose values count; the one that the app was in if left out.")
    var environment: String?
    @Flag(help: "Have roles and partition rules that cannot be enforced deny, instead of refusing them.")
    var denyIncompatible = false

    func run() async throws { try await reportingFailures { try printRules() } }

    private func printRules() throws {
        let export = try ExportFolder(folder).rules(environment: environment)
        let made = RulesImport(export, denyingIncompatible: denyIncompatible)
        for finding in made.denied {
            Printing.note("denied    \(FindingLines.text(of: [finding]))")
        }
        if !made.findings.isEmpty { Printing.note(FindingLines.text(of: made.findings)) }
        guard made.isUsable else {
            throw CommandFailure(
                .badInput,
                "\(folder): these rules cannot be put in force; change what is said above, or deny it with --deny-incompatible"
            )
        }
        print(JSONWriter.text(of: made.document))
    }
}

/// The folder of an exported App Services app.
private struct ExportFolder {
    private static let maxFileBytes = 4 << 20
    private let root: URL

    init(_ folder: String) throws {
        root = URL(filePath: folder)
        guard Self.exists(root) else { throw CommandFailure(.notFound, "\(folder): there is no such folder") }
        guard
            ["sync/config.json", "data_sources", "config.json"].contains(where: {
                Self.exists(root.appending(path: $0))
            })
        else {
            throw CommandFailure(
                .badInput,
                "\(folder) is no export of an App Services app: expected sync/config.json or data_sources in it")
        }
        let isOlder = try Self.json(at: root.appending(path: "config.json"))?.objectValue?["config_version"] != nil
        guard try Self.json(at: root.appending(path: "sync/config.json")) != nil || !isOlder else {
            throw CommandFailure(.badInput, "\(folder) is of an older form: export the app again")
        }
    }

    func rules(environment wanted: String?) throws -> ExportedRules {
        var export = ExportedRules()
        export.sync = try Self.json(at: root.appending(path: "sync/config.json"))
        let source = try dataSource(export.sync?.objectValue?["service_name"]?.stringValue)
        export.defaultRule = try Self.json(at: source.appending(path: "default_rule.json"))
        for database in Self.folders(in: source) {
            for collection in Self.folders(in: database) {
                guard let rules = try Self.json(at: collection.appending(path: "rules.json")) else { continue }
                let title = try Self.json(at: collection.appending(path: "schema.json"))?.objectValue?["title"]?
                    .stringValue
                export.classes[title ?? collection.lastPathComponent] = rules
            }
        }
        for file in Self.entries(in: root.appending(path: "values")) where file.pathExtension == "json" {
            guard let members = try Self.json(at: file)?.objectValue, members["from_secret"] != true,
                let name = members["name"]?.stringValue
            else { continue }
            export.values[name] = members["value"]
        }
        let settings = try ["root_config.json", "realm_config.json"].lazy
            .compactMap { try Self.json(at: root.appending(path: $0)) }.first
        let tag = wanted ?? settings?.objectValue?["environment"]?.stringValue ?? ""
        let file = "environments/\(tag.isEmpty ? "no-environment" : tag).json"
        let values = try Self.json(at: root.appending(path: file))?.objectValue?["values"]?.objectValue
        if wanted != nil, values == nil { throw CommandFailure(.notFound, "there is no \(file) in \(root.path)") }
        export.environment = (tag, values ?? [:])
        return export
    }

    /// The data source that sync uses.
    private func dataSource(_ name: String?) throws -> URL {
        let sources = Self.folders(in: root.appending(path: "data_sources"))
        if let name, let named = sources.first(where: { $0.lastPathComponent == name }) { return named }
        guard sources.count <= 1 else {
            throw CommandFailure(
                .badInput, "\(root.path): sync/config.json names none of the data sources as its service_name")
        }
        return sources.first ?? root.appending(path: "data_sources/none")
    }

    private static func entries(in folder: URL) -> [URL] {
        let found = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: [.skipsHiddenFiles])
        return (found ?? []).sorted { $0.path < $1.path }
    }

    private static func folders(in folder: URL) -> [URL] {
        entries(in: folder).filter { (try? $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true }
    }

    private static func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Nil if there is no such file.
    private static func json(at url: URL) throws -> JSONValue? {
        guard exists(url) else { return nil }
        guard let data = FileManager.default.contents(atPath: url.path), data.count <= maxFileBytes else {
            throw CommandFailure(.badInput, "\(url.path) cannot be read, or has more than \(maxFileBytes) bytes")
        }
        return try JSONValue(parsing: data, of: url.path)
    }
}
