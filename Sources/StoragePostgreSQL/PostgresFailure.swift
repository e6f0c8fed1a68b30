package import PostgreSQL
package import Storage

extension StoreError {
    /// Says what an error of the database means to whoever uses a store.
    ///
    /// - Parameter what: the store, and what cannot be done with it.
    package init(_ error: PostgresError, _ what: String) {
        let code: Code =
            switch error.kind {
            case .invalidURL: .invalidURL
            case .denied, .notPermitted: .denied
            case .unique: .alreadyExists
            case .undefinedTable, .unsupported: .mismatch
            case .full, .unreachable, .lost, .timeout, .busy, .cancelled, .closed, .readOnly, .conflict: .unavailable
            case .other: Self.code(sqlState: error.sqlState ?? "")
            }
        self.init(code, what, underlying: error)
    }

    private static func code(sqlState: String) -> Code {
        // Damaged pages and indexes; then columns and functions that are not there, as in a schema of another version.
        if sqlState.hasPrefix("XX") { return .corrupt }
        return sqlState.hasPrefix("42") ? .mismatch : .unavailable
    }

    /// Says what any error means that a transaction's body may throw.
    package init(any error: any Error, _ what: String) {
        switch error {
        case let error as StoreError: self = error
        case let error as PostgresError: self.init(error, what)
        case is DecodingError:
            self.init(.corrupt, "\(what): what is stored does not have the expected form")
        case is CancellationError: self.init(.unavailable, "\(what): cancelled")
        default: self.init(.unavailable, what, underlying: error)
        }
    }
}
