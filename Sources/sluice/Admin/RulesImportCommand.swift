import ArgumentParser
import Foundation
import Inspection
import Rules
import SyncModel

struct RulesImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Make a rules document of an exported App Services app.",
        discussion: """
            Prints the document, and what is wrong with it on standard error; asks no coordinator. sluice rules set \
            APP - puts it in force.
            """)
    @Argument(help: "The export: its folder, or a zip file of it.") var export: String
    @Option(help: "The environment whose values count; the one that the app was in if left out.")
    var environment: String?
    @Option(help: "The database that was synced, where a class stands in several; repeat it for several.")
    var database: [String] = []
    @Flag(help: "Have roles and partition rules that cannot be enforced deny, instead of refusing them.")
    var denyIncompatible = false
    @Flag(
        help: """
            Where canReadPartition and canWritePartition decide, as in the well-known tutorial, have the lists canReadPartitions and \
            canWritePartitions of users' custom data decide (template listed).
            """)
    var listed = false

    func run() async throws { try await reportingFailures { try printRules() } }

    private func printRules() throws {
        guard FileManager.default.fileExists(atPath: export) else {
            throw CommandFailure(.notFound, "\(export): there is no such folder or file")
        }
        let made: RulesImport
        do throws(ExportProblem) {
            let rules = try ExportedRules(
                try ExportReading.files(at: export), environment: environment, databases: database)
            made = RulesImport(rules, denyingIncompatible: denyIncompatible, listing: listed)
        } catch {
            throw CommandFailure(.badInput, "\(export): \(error)")
        }
        for note in made.notes { Printing.note("note      \(note.oneLine)") }
        for finding in made.denied {
            Printing.note("denied    \(FindingLines.text(of: [finding]))")
        }
        if !made.findings.isEmpty { Printing.note(FindingLines.text(of: made.findings)) }
        guard made.isUsable else {
            throw CommandFailure(
                .badInput,
                "\(export): these rules cannot be put in force; change what is said above, or deny it with --deny-incompatible"
            )
        }
        Printing.line(JSONWriter.text(of: made.document))
    }
}
