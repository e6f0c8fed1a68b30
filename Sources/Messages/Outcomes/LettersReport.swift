/// A shell's report on what it has done with dead letters, for the audit log: to the outcomes queue, since a shell has a broker and perhaps no
/// coordinator.
package struct LettersReport: CodableMessage, Equatable {
    package static let type = "letters"
    /// The letters that a report names.
    package static let most = 50

    package enum Action: String, Codable, Sendable { case requeued, dropped }

    package var action: Action
    package var count: Int
    /// The names of the first of them.
    package var letters: [String]
    /// The user of the shell, by its own word: `user@host`.
    package var by: String
    /// When the command ended, in milliseconds of Unix time.
    package var at: UInt64

    package init(action: Action, count: Int, letters: [String], by: String, at: UInt64) {
        self.action = action
        self.count = count
        self.letters = Array(letters.prefix(Self.most))
        self.by = by
        self.at = at
    }

    package var messageVersion: Int64 { MessageVersion.letters }
}
