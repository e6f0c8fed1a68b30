internal import Changesets
internal import Foundation
internal import Query
internal import RealmState

/// A query as the app wrote it: a text of the query language (docs/queries.md), with arguments apart.
///
/// Arguments stand in the text as in `NSPredicate` formats (`%@`, `%d`, `%f` ... for values, `%K` for a property's name, `%%` for a percent
/// sign), or as `$0`, `$1` ...
struct QueryPredicate: Sendable {
    /// Selects every object.
    static let all = QueryPredicate(text: "TRUEPREDICATE", arguments: [])

    let text: String
    let arguments: [QueryArgument]

    init(text: String, arguments: [QueryArgument]) {
        self.text = text
        self.arguments = arguments
    }

    /// - Throws: `ValueMismatch`.
    init(format: String, _ values: [Any]) throws {
        var text = ""
        var arguments: [QueryArgument] = []
        var rest = format[...]
        var unused = values[...]
        var quote: Character?
        func next() throws -> Any {
            guard let value = unused.popFirst() else {
                throw ValueMismatch(
                    description:
                        "the query \"\(format)\" has more placeholders than the \(values.count) arguments passed")
            }
            return value
        }
        while let character = rest.popFirst() {
            guard character == "%", quote == nil else {
                if character == quote {
                    quote = nil
                } else if quote == nil, "\"'".contains(character) {
                    quote = character
                }
                text.append(character)
                continue
            }
            if rest.first == "%" {
                rest.removeFirst()
                text.append("%")
            } else if rest.first == "K" {
                rest.removeFirst()
                text += "\(try next())"
            } else if let placeholder = Self.placeholders.first(where: { rest.hasPrefix($0) }) {
                rest.removeFirst(placeholder.count)
                text += "$\(arguments.count)"
                arguments.append(try Self.argument(try next()))
            } else {
                throw ValueMismatch(
                    description:
                        "the query \"\(format)\" has a % before \"\(rest.prefix(3))\"; placeholders are %@, %K, %d, %f and the like"
                )
            }
        }
        // Without placeholders, what is passed stands for $0, $1 ...
        if unused.count == values.count {
            arguments = try values.map(Self.argument)
        } else if !unused.isEmpty {
            throw ValueMismatch(
                description: "the query \"\(format)\" has fewer placeholders than the \(values.count) arguments passed")
        }
        self.init(text: PredicateWords.translated(text), arguments: arguments)
    }

    /// The longest first.
    private static let placeholders = ["lld", "llu", "lf", "ld", "lu", "@", "d", "i", "u", "f", "s"]

    static func argument(_ any: Any) throws -> QueryArgument {
        if let scalar = any as? any _Scalar, !(any is AnyRealmValue) { return .value(scalar._stored.value) }
        if let object = ValueConversion.unwrapped(any) as? ObjectBase, object.handle == nil {
            throw ValueMismatch(description: "a query cannot compare with an object that no realm has: \(object)")
        }
        if let mixed = any as? AnyRealmValue, mixed.listValue != nil || mixed.dictionaryValue != nil {
            throw ValueMismatch(
                description:
                    "a query cannot compare with a list or dictionary as a whole; compare what is in it, by key or position"
            )
        }
        let conversion = ValueConversion(schema: Schema())
        // A collection of any kind as an array; what is no collection of values, as a string or bytes, as it is.
        let elements = any is any Collection ? try? ValueConversion.elements(any) : nil
        switch try conversion.value(elements ?? any, as: .mixed) {
        case .list(let values): return .list(values)
        case let value: return .value(value)
        }
    }

    /// The checked query on the objects of a class.
    /// - Throws: `QueryError`.
    func query(on className: String, _ schema: Schema) throws -> ObjectQuery {
        try ObjectQuery(
            ByteString(text), on: ByteString(className), schema: QuerySchema(schema), arguments: arguments)
    }

    /// The text by which the query is stored, compared and sent: as stock clients write it, but with everything that it says.
    /// - Throws: `ValueMismatch`, which names the class and the place of the mistake.
    func text(on className: String, _ schema: Schema) throws -> String {
        do {
            return try query(on: className, schema).exactText
        } catch {
            throw mismatch(on: className, "\(error)")
        }
    }

    /// What filters are checked for beside the query itself. Of a subscription it is the server that refuses this.
    /// - Throws: `ValueMismatch`, `QueryError`.
    func checkSelectsOnly(on className: String, _ schema: Schema) throws {
        guard try query(on: className, schema).arrangement.isEmpty else {
            throw mismatch(
                on: className, "SORT, DISTINCT and LIMIT select nothing; use sorted(by:), distinct(by:) and prefix(_:)")
        }
    }

    private func mismatch(on className: String, _ reason: String) -> ValueMismatch {
        ValueMismatch(description: "the query \"\(text)\" on class \(className): \(reason)")
    }
}
