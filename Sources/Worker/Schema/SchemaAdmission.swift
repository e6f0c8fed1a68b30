import Storage
import SyncModel

/// Decides whether an app lets its realms' schema change.
struct SchemaAdmission: SlicePart {
    let work: SliceWork

    /// Whether the app lets a client add to its realm's schema like this; what is new is the app's from then on. What a client
    /// would take away is refused before (`UploadPermission`).
    ///
    /// Every client declares all of its classes whenever it opens a realm for the first time, so in a new realm everything
    /// changes: what counts is what no client of the app has declared in any realm.
    ///
    /// - Parameter user: whose client it is.
    /// - Throws: `SchemaRefusedError`.
    func admit(_ change: SchemaChange, of user: String, from app: AppRecord) async throws {
        try check(change, in: app)
        guard !app.developmentMode else {
            let limit = app.limit(of: .userSchemaElements, by: limits.quotas)
            return try await extend(app, by: change, of: SchemaAuthor(user: user, limit: limit))
        }
        let missing = try await apps.missing(change.added, in: app)
        guard let first = missing.first else { return }
        // Development mode may have been turned on since the settings were read, and a client does not come again by itself
        // after a refusal.
        if let newest = try await apps.latest(app.id), newest.developmentMode {
            return try await admit(change, of: user, from: newest)
        }
        let name = first.property.map { "\(first.className).\($0)" } ?? first.className
        let others = missing.count > 1 ? " and \(missing.count - 1) more" : ""
        throw SchemaRefusedError(
            app, stock: first.stockRefusal,
            "\(name) (\(first.type))\(others) would be new, and development mode is off; publish a changeset that adds it, or "
                + "turn development mode on for a while")
    }

    /// - Throws: `SchemaRefusedError`.
    private func check(_ change: SchemaChange, in app: AppRecord) throws {
        if let name = change.badName {
            throw SchemaRefusedError(
                app,
                "\(name.debugDescription) is no name of a class or property: it is not UTF-8, or has a character U+0000"
            )
        }
        if let name = change.asymmetric, app.syncMode != .flexible {
            throw SchemaRefusedError(
                app,
                "class \(name) is asymmetric, and the app uses \(app.syncMode.rawValue) sync; only flexible sync has"
                    + " asymmetric classes")
        }
        if let link = change.badLink { throw SchemaRefusedError(app, link) }
        if let overflow = change.overflow {
            throw SchemaRefusedError(app, "\(overflow) are more than clients have room for")
        }
    }

    /// Makes what is new in one realm the app's own.
    ///
    /// - Parameter author: nil: an operator.
    /// - Throws: `SchemaRefusedError` if that would be too much.
    func extend(_ app: AppRecord, by change: SchemaChange, of author: SchemaAuthor? = nil) async throws {
        try check(change, in: app)
        do throws(StoreError) {
            try await apps.extend(app, with: change.added, by: author)
        } catch {
            guard error.code == .full else { throw error }
            throw SchemaRefusedError(app, error.message)
        }
    }
}

/// The app does not take a change of its schema. The client keeps what it has, and goes on when its app is opened again.
struct SchemaRefusedError: UploadError {
    var reason: String

    /// - Parameter stock: how users of stock clients know the reason; the message begins with it.
    init(_ app: AppRecord, stock: String? = nil, _ reason: String) {
        self.reason =
            "Invalid schema change (UPLOAD): " + (stock.map { "\($0); " } ?? "")
            + "the schema of app \(app.id) cannot change like this: \(reason)"
    }

    var refusal: Refusal {
        .applicationBug(.invalidSchemaChange, reason)
    }
}

extension SchemaElement {
    /// How users of stock clients know that a client may not add it.
    fileprivate var stockRefusal: String {
        let what =
            property.map { "\"\(stockType)\" column at field \"\($0)\" in schema \"\(className)\"" }
            ?? "schema for Realm table \"\(className)\""
        return
            "non-breaking schema change: adding \(what), schema changes from clients are restricted when developer mode "
            + "is disabled"
    }

    /// A property's type by the name that the service of stock clients has for it, whatever its collection.
    private var stockType: String {
        let element = type.split(separator: "<").last.map { $0.prefix { !" ?>".contains($0) } } ?? ""
        return switch element {
        case "binData": "Binary"
        case "date": "Timestamp"
        case "objectId": "ObjectID"
        case "uuid": "UUID"
        default: element.prefix(1).uppercased() + element.dropFirst()
        }
    }
}
