import Query
import RealmState
import SyncModel
import Views

/// A look at views that takes longer than a slice waits for it.
enum AsideLook: AsideTask {
    /// Subscription sets are to be read.
    case reading(ViewReading)
    /// An object is to be tried on a set, and may take so many steps.
    case trial(LongTrial, perObject: Int)

    enum Outcome: Sendable {
        case views(FoundViews)
        case answer(LongTrial.Answer, of: LongTrial)
    }

    func run(isCancelled: @escaping () -> Bool) -> Outcome {
        switch self {
        case .reading(let reading): .views(reading.made(isCancelled: isCancelled))
        case .trial(let trial, let perObject): .answer(trial.made(perObject: perObject), of: trial)
        }
    }
}

/// The message in hand has to wait for a look, or for its next turn, and is then begun anew: nothing was done for it.
struct LookPause: Error {
    /// Nil: it waits for its next turn.
    var look: AsideLook?
    /// What is known of trials by now.
    var answers: TrialAnswers
}

/// Views of a realm that are to be read, and views that were read of which the ways to objects are to be found.
struct ViewReading: Sendable {
    var definitions: [ViewDefinition] = []
    var views: [View] = []
    /// Whether the ways to objects are to be found, too, of those that are to be read.
    let findsObjects: Bool
    /// The realm's.
    let schema: Schema
    /// The schema version of the client's copy.
    let version: SchemaVersion?
    /// The queries that other views have.
    let queries: ViewQueries

    /// The bytes that are to be read, and those of which ways to objects are to be found.
    var bytes: (toRead: Int, toFind: Int) {
        let toRead = definitions.reduce(0) { $0 + $1.queries.utf8.count + $1.roles.utf8.count }
        return (toRead, views.reduce(findsObjects ? toRead : 0) { $0 + $1.unfoundBytes })
    }

    func made(isCancelled: () -> Bool) -> FoundViews {
        var found = FoundViews(queries: queries)
        for definition in definitions where !isCancelled() {
            let view = found.read(definition, schema, version)
            if findsObjects { view?.findAccesses() }
        }
        for view in views where !isCancelled() { view.findAccesses() }
        return found
    }
}

/// Views that were read for a message.
struct FoundViews: Sendable {
    private var views: [ViewCache.Key: Result<View, ViewError>] = [:]
    private(set) var queries = ViewQueries()
    /// Tells the state of the schema that they were read by.
    private var stamp = 0

    init(queries: ViewQueries = ViewQueries()) { self.queries = queries }

    subscript(_ key: ViewCache.Key, stamp: Int) -> Result<View, ViewError>? {
        stamp == self.stamp ? views[key] : nil
    }

    /// - Returns: nil for one that cannot be a view.
    mutating func read(_ definition: ViewDefinition, _ schema: Schema, _ version: SchemaVersion?) -> View? {
        stamp = ViewCache.stamp(of: schema)
        let view = Result { () throws(ViewError) in
            try View(definition, schema: schema, version: version, sharing: &queries)
        }
        views[ViewCache.Key(definition: definition, version: version?.number)] = view
        return try? view.get()
    }

    mutating func add(_ others: FoundViews) {
        guard stamp == others.stamp else { return self = others }
        views.merge(others.views) { $1 }
        queries = others.queries
    }
}
