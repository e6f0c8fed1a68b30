/// Statements that travel together: they are sent at once, and answered at once.
package struct PostgresPipeline: Sendable {
    private(set) var statements: [Statement] = []

    package init() {}

    /// One statement.
    init(_ sql: String, _ values: [PostgresValue]) { add(sql, values) }

    package var isEmpty: Bool { statements.isEmpty }

    /// Adds a statement. It is prepared once for each connection, by its text and its parameters' types: values belong into the
    /// parameters, `$1` and so on, never into the text.
    ///
    /// - Returns: the index of its result in the answer.
    @discardableResult package mutating func add(_ sql: String, _ values: PostgresValue...) -> Int {
        add(sql, values)
    }

    @discardableResult package mutating func add(_ sql: String, _ values: [PostgresValue]) -> Int {
        statements.append(Statement(sql, values))
        return statements.count - 1
    }

    /// A statement with its parameters as the server takes them.
    struct Statement: Sendable {
        /// What a prepared statement is found by.
        struct Key: Hashable, Sendable {
            var sql: String
            var types: [UInt32]
        }

        let key: Key
        /// The parameters' bytes, one after the other, and a byte more: so there is always an address.
        let bytes: [UInt8]
        /// Where each parameter begins and ends; nil for NULL.
        let ranges: [Range<Int>?]

        init(_ sql: String, _ values: [PostgresValue] = []) {
            key = Key(sql: sql, types: values.map(\.type))
            var bytes: [UInt8] = []
            ranges = values.map { value in
                let start = bytes.count
                return value.encode(into: &bytes) ? start..<bytes.count : nil
            }
            bytes.append(0)
            self.bytes = bytes
        }
    }
}

/// The isolation of a transaction from others that run beside it.
package enum PostgresIsolation: Sendable {
    /// Each statement sees what was committed when it began.
    case readCommitted
    /// All statements see one state.
    case repeatableRead
    /// The result is as if the transactions ran one after the other.
    case serializable

    var sql: String {
        switch self {
        case .readCommitted: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"
        case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"
        }
    }
}

/// How a pipeline's statements belong together.
package enum PostgresMode: Sendable {
    /// Statements that only read; each sees what is committed then.
    case reads
    /// Statements that only read, and all see one state.
    case snapshot
    /// One transaction: all statements take effect, or none.
    case write(PostgresIsolation = .readCommitted)

    static let beginSnapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    var begin: String? {
        switch self {
        case .reads: nil
        case .snapshot: Self.beginSnapshot
        case .write(let isolation): isolation.sql
        }
    }

    var isWrite: Bool { if case .write = self { true } else { false } }
}
