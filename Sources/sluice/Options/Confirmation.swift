import AdminAPI
import ArgumentParser
import Foundation
import SyncModel

/// The options of a command that takes something away for good: to see what would go, and to give the operator's word
/// that it may.
struct ConfirmationOptions: ParsableArguments {
    @Flag(help: "Do it without asking.") var yes = false
    @Flag(help: "Say what would be done, and change nothing.") var dryRun = false

    /// Has the operator type the name of what is to go, unless `--yes` was given.
    ///
    /// - Parameter what: what is to go, for the question.
    func require(typed name: String, _ what: String) throws {
        guard !yes else { return }
        try Self.require(typed: name, what)
    }

    /// Has the operator type a name, in a terminal.
    static func require(typed name: String, _ what: String) throws {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                .badInput, "\(what) cannot be undone: add --yes, or --dry-run to see what would be done")
        }
        Printing.note("\(what) cannot be undone. Type \(name) to go on:")
        guard readLine() == name else { throw CommandFailure(.badInput, "not typed: nothing was changed") }
    }
}

extension ErasurePlan {
    /// What would go, in a sentence.
    var text: String {
        var parts = [realms.counted("realm")]
        if let partitions, !partitions.isEmpty, partitions.count == realms {
            parts[0] += " (\(partitions.map(RealmName.shown).joined(separator: ", ")))"
        }
        parts += [clientRealms.counted("client realm"), objects.counted("object"), bytes.counted("byte")]
        if let users { parts.append(users.counted("user")) }
        return parts.joined(separator: ", ")
    }
}
