internal import Changesets

/// Why a query is refused: what kind of mistake, where it stands in the text, what was expected and what came.
package struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// The text is not in the grammar.
        case syntax
        /// Types, names, quantifiers or operators that do not go together.
        case query
        /// An argument that is missing or does not fit where it stands.
        case argument
        /// Longer, deeper or of more terms than a query may be.
        case limit
        /// Part of the language, but not of what a subscription may contain.
        case subscription
    }

    package var kind: Kind
    package var message: String
    /// The byte of the query's text, counted from 0, at which the mistake stands.
    package var offset: Int

    package init(_ kind: Kind, _ message: String, at offset: Int) {
        self.kind = kind
        self.message = message
        self.offset = offset
    }

    package var description: String { "\(message) (at byte \(offset))" }
}

extension QueryError {
    static func syntax(_ message: String, at offset: Int) -> QueryError { QueryError(.syntax, message, at: offset) }
    static func query(_ message: String, at offset: Int) -> QueryError { QueryError(.query, message, at: offset) }
    static func argument(_ message: String, at offset: Int) -> QueryError { QueryError(.argument, message, at: offset) }
    static func limit(_ message: String, at offset: Int) -> QueryError { QueryError(.limit, message, at: offset) }

    static func unknownClass(_ name: ByteString, _ offset: Int) -> QueryError {
        query("there is no class \"\(name)\"", at: offset)
    }

    static func unknownProperty(_ name: ByteString, _ type: QueryClass, _ offset: Int) -> QueryError {
        query("the class \"\(type.name)\" has no property \"\(name)\"", at: offset)
    }
}
