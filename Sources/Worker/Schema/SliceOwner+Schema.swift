import Changesets
import Storage

extension SliceOwner {
    /// Whether the app lets clients bring these changesets' classes and properties along; what is new is the app's from then
    /// on.
    ///
    /// Every client declares all of its classes whenever it opens a realm for the first time, so only what no client of the
    /// app has declared before counts as a change.
    ///
    /// - Returns: the refusal, if they may not.
    func refusal(ofSchemaIn changesets: [Changeset], app: AppRecord) async throws -> Refusal? {
        let declared = DeclaredSchema(of: changesets)
        if app.developmentMode {
            return try await overflow(of: app, extendedBy: declared).map { .schemaChange(app, $0) }
        }
        if let erased = declared.erased { return .schemaChange(app, "\(erased) may not be removed") }
        let missing = try await apps.missing(declared.elements, in: app.id)
        guard let first = missing.first else { return nil }
        let name = first.property.map { "\(first.className).\($0)" } ?? first.className
        let others = missing.count > 1 ? " and \(missing.count - 1) more" : ""
        return .schemaChange(
            app,
            "\(name) (\(first.type))\(others) would be new, and development mode is off; publish a changeset that adds it, or "
                + "turn development mode on for a while")
    }

    /// Makes what is declared the app's own.
    ///
    /// - Returns: why that cannot be, if it would be too much.
    func overflow(of app: AppRecord, extendedBy declared: DeclaredSchema) async throws -> String? {
        do {
            try await apps.extend(app.id, with: declared.elements)
            return nil
        } catch {
            guard error.code == .full else { throw error }
            return error.message
        }
    }
}

extension Refusal {
    /// The client keeps what it has, and goes on when its app is opened again.
    fileprivate static func schemaChange(_ app: AppRecord, _ reason: String) -> Refusal {
        Refusal(
            code: 225, action: "ApplicationBug",
            message: "the schema of app \(app.id) cannot change like this: \(reason)",
            tryAgain: false)
    }
}
