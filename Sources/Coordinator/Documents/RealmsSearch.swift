import Changesets
import Documents
import HTTPTypes
import Inspection
import Storage
import SyncModel

/// A search through realms of an app in partition mode, one after the other, each as it is at one moment of its own.
struct RealmsSearch: Sendable {
    let app: AppRecord
    let className: ByteString
    let declared: DeclaredSchema
    let stores: SliceStores
    let slices: SliceCount
    /// Nil: all realms that may be read.
    let names: [RealmName]?
    /// Whether whoever searches may read a partition.
    let reads: @Sendable (RealmName) -> Bool

    /// Visits the realms that have the class, by slice and number where they are not named.
    ///
    /// - Parameters:
    ///   - budget: that of the search in one realm.
    ///   - body: returns whether to go on.
    /// - Returns: how many realms were visited.
    /// - Throws: `AdminError`, also for a named realm that there is not; a realm that goes meanwhile is passed over where none is named.
    func forEach(
        within budget: () -> SearchBudget, _ body: (DocumentSearch) async throws -> Bool
    ) async throws -> Int {
        var (visited, isDone) = (0, false)
        func visit(_ name: RealmName, in reader: any SliceReader) async throws {
            guard !isDone else { return }
            let found = try await search(name, in: reader, within: budget(), body)
            switch found {
            case .realm(let goesOn):
                visited += 1
                isDone = !goesOn
            case .noClass: break
            case .nothing: if names != nil { throw AdminError.noRealm(name) }
            }
        }
        if let names {
            for name in names {
                guard let reader = try await stores.reader(of: name, in: slices) else {
                    throw AdminError.noRealm(name)
                }
                try await visit(name, in: reader)
            }
        } else {
            try await stores.forEachRealm(of: app.id) { record, reader in
                // Something may be left of an app that has moved from the other mode.
                guard !record.name.isFlexible, reads(record.name) else { return }
                try await visit(record.name, in: reader)
            }
        }
        return visited
    }

    private enum Found {
        case realm(goesOn: Bool)
        /// The realm has not met the class, so it has none of it.
        case noClass
        case nothing
    }

    private func search(
        _ name: RealmName, in reader: any SliceReader, within budget: SearchBudget,
        _ body: (DocumentSearch) async throws -> Bool
    ) async throws -> Found {
        do {
            // Opening a realm takes time, too, however little is in it.
            try budget.requireTime()
            let goesOn = try await DocumentSearch.run(
                in: name, of: className, reader: reader, declared: declared, within: budget, body)
            return goesOn.map { .realm(goesOn: $0) } ?? .nothing
        } catch let error as DocumentError where error.code == .unknownClass {
            return .noClass
        } catch let error as DocumentError {
            throw AdminError(error, in: name)
        }
    }

    /// - Parameter visited: how many realms have the class.
    /// - Throws: `unknown_class` for one that neither any realm nor the app has.
    func requireClass(visited: Int) throws(AdminError) {
        guard visited == 0, !declared.hasDocuments(of: className) else { return }
        throw AdminError(
            DocumentError(
                .unknownClass,
                "expected a class of app \(app.id) that has documents, came \"\(className.string.prefix(100))\""))
    }
}

extension AdminError {
    init(_ error: DocumentError) {
        self.init(status: .unprocessableContent, code: error.code.rawValue, message: error.description)
    }

    /// - Parameter realm: one of several, to be named.
    init(_ error: DocumentError, in realm: RealmName) {
        self.init(error)
        message = "partition \(realm.partition.prefix(200)): \(message)"
    }
}
