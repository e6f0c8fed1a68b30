/// Everything that a few clients can do at the same time to one small realm.
///
/// Each client makes one of the moves, without knowing of the others'; all combinations are tried in every order of
/// arrival at the server. All changes have the same timestamp, so the clients' numbers decide which is newer, and with all
/// combinations and orders every rank meets every place.
package struct ExhaustiveFamily: Sendable {
    /// A realm to start with, and what can be done to it.
    struct Start: Sendable {
        var setup: [Edit]
        /// Alternatives; each is a list of transactions. `#` in the text is the client's number.
        var moves: [String]
    }

    package let name: String
    package let summary: String
    package let clients: Int
    let starts: [Start]
    /// Whether the server ends up with the same realm in whatever order uploads arrive (docs/merge.md, "The server's
    /// order").
    package var isOrderIndependent = false
    /// Whether it converges only among peers that apply and record by the convergent rules too.
    package var needsOwnPeers = false

    init(_ name: String, _ summary: String, clients: Int = 3, _ starts: [Start]) {
        self.name = name
        self.summary = summary
        self.clients = clients
        self.starts = starts
    }

    package static func named(_ name: String) -> ExhaustiveFamily? { all.first { $0.name == name } }

    package static let all: [ExhaustiveFamily] =
        [lists, listPairs] + [sets, setPairs] + [dictionaries, dictionaryPairs] + [mixedValues, mixedPairs]
        + [embeddedObjects, embeddedPairs, embeddedDictionaries] + [objects, objectPairs] + [counters, counterPairs]
        + [schemas, erasedSchemas, twins]

    /// How many combinations there are, in all orders.
    package var caseCount: Int {
        let orders = (1...clients).reduce(1, *)
        return starts.reduce(0) { sum, start in
            sum + orders * (0..<clients).reduce(1) { product, _ in product * start.moves.count }
        }
    }
}

extension ExhaustiveFamily.Start {
    /// - Parameters:
    ///   - setup: edits, separated by semicolons or lines.
    ///   - moves: one a line; semicolons separate edits, and bars transactions.
    init(_ setup: String, _ moves: String) {
        let edits = setup.split { $0 == "\n" || $0 == ";" }
        self.setup = edits.compactMap { try? Edit(parsing: $0.trimming()) }
        self.moves = moves.split(separator: "\n").map { String($0.trimming()) }
    }

    /// A client's transactions for a move.
    func transactions(_ move: String, client: Int) -> [[Edit]] {
        let text = move.replacing("#", with: String(client))
        return text.split(separator: "|").map { transaction in
            transaction.split(separator: ";").compactMap { try? Edit(parsing: $0.trimming()) }
        }
    }

    /// Sequences of so many of the moves, each a transaction of its own.
    func sequences(upTo count: Int) -> ExhaustiveFamily.Start {
        var all = moves
        var longest = moves
        for _ in 1..<max(1, count) {
            longest = longest.flatMap { first in moves.map { "\(first) | \($0)" } }
            all += longest
        }
        var result = self
        result.moves = all
        return result
    }
}

extension Substring {
    func trimming() -> Substring { drop { $0 == " " }.trimmingSuffix() }
    private func trimmingSuffix() -> Substring {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
