import AdminAPI
import Changesets
import HTTPTypes
import Hummingbird
import Inspection
import Messages
import Storage
import SyncModel

/// `apps/{app}/changes`: what is done to an app's documents, as server-sent events.
struct ChangeRoutes: Sendable {
    let context: CoordinatorContext
    private let places = EventPlaces(
        AdminLimits.followers, of: "followers of changes are there", code: "too_many_followers")

    init(context: CoordinatorContext) { self.context = context }

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.on(.get, .changes) { request, route in
            let wanted = try wanted(request, try await context.app(route.value(of: .app)))
            let place = try places.require()
            let stores = try await stores(for: wanted)
            guard
                let tap = try await ChangeTap.open(
                    on: context.link.consumer, topology: context.topology, app: wanted.app.id, class: wanted.className,
                    maxBytes: context.configuration.followerBytes)
            else { throw AdminError.unavailable("broker_unavailable", "the broker is away") }
            let stream = ChangeStream(context: context, wanted: wanted, stores: stores, tap: tap)
            return place.response(headers: [.contentType: "text/event-stream", .cacheControl: "no-store"]) { writer in
                do {
                    try await stream.write(to: &writer)
                } catch {
                    await tap.close()
                    throw error
                }
                await tap.close()
            }
        }
    }

    private func wanted(_ request: Request, _ app: AppRecord) throws -> WantedChanges {
        let choice = try RealmChoice(request)
        var wanted = WantedChanges(
            app: app, className: AdminRequest.query(.className, request).map { ByteString($0) })
        if choice.partition != nil || choice.flexible == true || app.syncMode == .flexible {
            wanted.realm = try choice.name(in: app)
        }
        let from = HTTPField.Name.lastEventID.flatMap { request.headers[$0] }.flatMap { $0.isEmpty ? nil : $0 }
        switch from ?? AdminRequest.query(.from, request) ?? "now" {
        case "now": break
        case "start": wanted.beginning = .start
        case let text:
            guard let place = FeedPlace(text) else {
                throw AdminError.invalid("from: expected now, start, or a place such as 1.17.0@9c2f01ab")
            }
            guard wanted.realm != nil else {
                throw AdminError.invalid(
                    "from: a place is one of a realm, and app \(app.id) has many: name a partition, or begin with start"
                )
            }
            wanted.beginning = .place(place)
        }
        guard app.changeFeed.isOn else {
            throw AdminError.conflict(
                "feed_off", "the change feed of app \(app.id) is off: turn it on with its setting changeFeed")
        }
        guard wanted.beginning == .now || app.changeFeed.isSettled(at: context.now) else {
            throw AdminError.unavailable(
                "feed_new",
                "the change feed was turned on less than \(ChangeFeedSetting.settlingTime / 1_000) s ago: not all workers may know yet; try again"
            )
        }
        return wanted
    }

    /// The stores that the state is read from; nil where only what comes is told.
    ///
    /// - Throws: `place_gone` where what came behind a place is not told any more.
    private func stores(for wanted: WantedChanges) async throws -> SliceStores? {
        guard wanted.beginning != .now else { return nil }
        let stores = try await context.stores(for: ", from which documents are read")
        if case .place(let from) = wanted.beginning, let name = wanted.realm {
            let place = from.place
            guard let reader = try await stores.reader(of: name, in: context.slices),
                let record = try await reader.realm(name), record.generation == place.generation,
                place.version <= record.latest.version, place.version >= record.historyBase,
                case let history = wanted.app.history(after: try await reader.restore()),
                from.history == nil || from.history == history
            else { throw AdminError.placeGone("what came behind \(from) is not told any more") }
        }
        return stores
    }
}

/// What a follower wants to be told.
struct WantedChanges: Sendable {
    enum Beginning: Sendable, Equatable {
        case now
        /// All documents come first.
        case start
        /// The documents come first that were touched since.
        case place(FeedPlace)
    }

    var app: AppRecord
    /// Nil: of all realms.
    var realm: RealmName?
    /// Nil: of all classes.
    var className: ByteString?
    var beginning = Beginning.now
}

extension AdminError {
    /// Nothing can be told without a gap: whoever follows has to begin with `start`.
    static func placeGone(_ reason: String) -> AdminError {
        AdminError(status: .gone, code: "place_gone", message: "\(reason): start anew, from=start")
    }
}

extension SliceStores {
    /// Nil where no slice of the realm was ever made.
    func reader(of name: RealmName, in slices: SliceCount) async throws -> (any SliceReader)? {
        let slice = name.slice(of: slices)
        return stored.contains(slice) ? try await inspector.reader(for: slice) : nil
    }
}

extension HTTPField.Name {
    /// The place of the last event that a client of server-sent events was told, when it comes again.
    fileprivate static let lastEventID = HTTPField.Name("Last-Event-ID")
}
