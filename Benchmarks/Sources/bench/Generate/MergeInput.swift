/// Two offline clients' changesets over one base: what the merge is measured on, in the shape of the recorded inputs.
struct MergeInput: Codable {
    struct Entry: Codable {
        var version: UInt64
        var timestamp: UInt64
        var origin_file_ident: UInt64
        /// Hexadecimal.
        var changeset: String
    }
    var kind: String
    var transactions: Int
    var instructions_per_transaction: Int
    var ours: [Entry]
    var theirs: [Entry]
}

extension MergeInput {
    /// The same input for the same arguments, everywhere.
    init(kind: MergeInputKind, transactions: Int, instructionsPerTransaction: Int, seed: UInt64) {
        self.kind = kind.rawValue
        self.transactions = transactions
        instructions_per_transaction = instructionsPerTransaction
        func side(_ number: UInt64) -> [Entry] {
            var client = ScriptedClient(kind: kind, side: number, seed: seed &* 2 &+ number)
            return (0..<UInt64(transactions)).map { transaction in
                Entry(
                    version: 3 + number + transaction, timestamp: 1001 + number + 2 * transaction,
                    origin_file_ident: 2 + number,
                    changeset: Self.hex(client.transaction(of: instructionsPerTransaction)))
            }
        }
        ours = side(0)
        theirs = side(1)
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
