package import Changesets
package import ExtendedJSON

/// One operation on documents of one class.
///
/// | JSON | what it does |
/// |---|---|
/// | `{"insert": C, "document": D}` | makes an object; refused with `object_exists` if there is one with its key |
/// | `{"upsert": C, "document": D}` | makes the object, or sets those of its properties that D has |
/// | `{"replace": C, "id": K, "document": D}` | the object becomes what D is: a property that D lacks gets its default |
/// | `{"update": C, "id": K, "set": {...}}` | sets fields: short for `"apply": {"$set": {...}}` |
/// | `{"update": C, "id": K, "apply": {...}}` | changes fields by operators (`FieldUpdate`) |
/// | `{"update": C, "filter": F, "many": true, ...}` | the same for what a filter selects: for the first one by key unless `many` |
/// | `{"delete": C, "id": K}`, `{"delete": C, "filter": F, "many": true}` | deletes; links to the object stay and lead nowhere |
///
/// C is a class, D a document, K a primary key, F a filter. Each but insert, and those with `filter`, may have an `"onlyIf": F`: the object has to
/// be there and F has to select it, else the answer is `conflict`. Replace, update and delete of an object that is not there match nothing, which
/// is no error. An insert or upsert without primary key gets a new one if that is an objectId or a UUID. Members that are not in the table are errors.
package struct DocumentWrite: Hashable, Sendable {
    package enum Target: Hashable, Sendable {
        /// The object with this primary key.
        case id(BSONValue)
        /// The objects that a filter selects: all of them, or the first one by key.
        case filter(BSONDocument, many: Bool)
    }

    package enum Operation: Hashable, Sendable {
        case insert(BSONDocument)
        case upsert(BSONDocument)
        case replace(id: BSONValue, BSONDocument)
        case update(Target, [FieldUpdate])
        case delete(Target)
    }

    package var className: ByteString
    package var operation: Operation
    /// A filter that the object has to meet.
    package var onlyIf: BSONDocument?

    package init(_ className: ByteString, _ operation: Operation, onlyIf: BSONDocument? = nil) {
        self.className = className
        self.operation = operation
        self.onlyIf = onlyIf
    }
}

extension DocumentWrite {
    /// Reads a write; the places of errors begin at it.
    ///
    /// - Throws: `invalidWrite`, `unsupportedOperator` or `limit`.
    package init(_ json: BSONValue, limits: DocumentLimits = DocumentLimits()) throws(DocumentError) {
        var members = try Members(json, "a write as an object")
        guard let verb = Verb.allCases.first(where: { members.has($0.rawValue) }) else {
            let verbs = Verb.allCases.map(\.rawValue.string).joined(separator: ", ")
            throw DocumentError(.invalidWrite, "expected one of the members \(verbs)")
        }
        let name = try members.string(verb.rawValue, "the name of a class")
        switch verb {
        case .insert: self.init(name, .insert(try members.document("document")))
        case .upsert: self.init(name, .upsert(try members.document("document")))
        case .replace:
            self.init(name, .replace(id: try members.value("id"), try members.document("document")))
        case .update:
            let target = try members.target()
            self.init(name, .update(target, try members.updates(limits)))
        case .delete: self.init(name, .delete(try members.target()))
        }
        if members.has("onlyIf") {
            switch operation {
            case .insert:
                throw DocumentError(.invalidWrite, "expected no onlyIf beside insert", at: .root.key("onlyIf"))
            case .update(.filter, _), .delete(.filter):
                throw DocumentError(
                    .invalidWrite, "expected no onlyIf beside filter, which says the same", at: .root.key("onlyIf"))
            case .upsert, .replace, .update, .delete: onlyIf = try members.document("onlyIf")
            }
        }
        try members.finish(verb.rawValue)
    }

    private enum Verb: ByteString, CaseIterable { case insert, upsert, replace, update, delete }
}

extension Members {
    fileprivate mutating func target() throws(DocumentError) -> DocumentWrite.Target {
        guard has("filter") else {
            guard has("id") else { throw DocumentError(.invalidWrite, "expected id or filter") }
            return .id(try value("id"))
        }
        guard !has("id") else { throw DocumentError(.invalidWrite, "expected id or filter, came both") }
        let filter = try document("filter")
        return .filter(filter, many: has("many") ? try bool("many") : false)
    }

    fileprivate mutating func updates(_ limits: DocumentLimits) throws(DocumentError) -> [FieldUpdate] {
        guard has("set") != has("apply") else {
            throw DocumentError(.invalidWrite, "expected either set or apply beside update")
        }
        let isShort = has("set")
        let given = try document(isShort ? "set" : "apply")
        let operators: BSONDocument = isShort ? ["$set": .document(given)] : given
        // The author of a short update has written no $set.
        func place(_ inner: JSONPlace) -> JSONPlace {
            guard isShort else { return inner.within(.key("apply")) }
            return JSONPlace(Array(inner.steps.dropFirst())).within(.key("set"))
        }
        do throws(DocumentError) {
            return try FieldUpdate.all(operators, limits).map { update in
                var update = update
                update.place = place(update.place)
                return update
            }
        } catch {
            throw DocumentError(error.code, error.message, at: place(error.place))
        }
    }
}
