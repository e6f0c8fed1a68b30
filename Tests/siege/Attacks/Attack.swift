/// One kind of attack: what a stranger does until its deadline.
struct Attack: Sendable {
    /// The attack's name in the table and for `--attack`.
    var name: String
    /// What it tries to use up, in a line.
    var summary: String
    var run: @Sendable (Stranger) async throws -> Void

    init(_ name: String, _ summary: String, run: @escaping @Sendable (Stranger) async throws -> Void) {
        self.name = name
        self.summary = summary
        self.run = run
    }

    static let all: [Attack] =
        merges + uploads + bombs + sessions + forgeries + connections + accounts + operators + flexible

    static func named(_ name: String) -> Attack? { all.first { $0.name == name } }
}
