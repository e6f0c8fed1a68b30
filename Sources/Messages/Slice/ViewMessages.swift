package import SyncModel

// What requests and answers of flexible realms carry besides: the subscription set that a client asks for, the way of its data, and
// what was not allowed to be written.

/// Asks for the next page of a subscription set's data, which brings the client from the view that it has to this one.
package struct BootstrapRequest: Codable, Sendable, Equatable {
    package var version: UInt64
    package var queries: String
    package var roles: String
    /// The position that the pages before have reached; nil for the first page.
    package var position: BootstrapPosition?

    package init(version: UInt64, queries: String, roles: String, position: BootstrapPosition? = nil) {
        self.version = version
        self.queries = queries
        self.roles = roles
        self.position = position
    }
}

/// The last object that a bootstrap has looked at.
package struct BootstrapPosition: Codable, Sendable, Equatable {
    /// The way on which a bootstrap looks at some objects of the class only.
    package struct Way: Codable, Sendable, Equatable {
        /// The objects of the view that the client comes from, after those of the view that it goes to.
        package var isLeaving: Bool
        /// The property in whose index the objects are; nil: they are those of the keys that the query names.
        package var column: UInt32?
        /// The bytes that the index has of the last object's value.
        @HexBytes package var value: [UInt8]

        package init(isLeaving: Bool, column: UInt32?, value: [UInt8]) {
            self.isLeaving = isLeaving
            self.column = column
            _value = HexBytes(value)
        }
    }

    /// The class; where the pages go over the history, how many objects of the version after `version` they have gone over.
    package var table: UInt32
    /// The key, as stores have it; empty: before all.
    @HexBytes package var key: [UInt8]
    /// Nil: all objects of the class are looked at.
    package var way: Way?
    /// Bytes of objects that were looked at.
    package var done: UInt64
    /// How many objects were looked at, and how many all pages will look at, about; nil from an owner or a gateway that does not know of it.
    package var looked: UInt64?
    package var total: UInt64?
    /// Where the pages go over the history and not over objects, since the client was far behind: the last version that one has gone over.
    package var version: ServerVersion?

    package init(table: UInt32, key: [UInt8], way: Way? = nil, done: UInt64, version: ServerVersion? = nil) {
        self.version = version
        self.way = way
        self.table = table
        _key = HexBytes(key)
        self.done = done
    }
}

/// The part of a bootstrap that a page is.
package struct BootstrapPart: Codable, Sendable, Equatable {
    package enum Outcome: Codable, Sendable, Equatable {
        /// More pages follow; the next one after this.
        case more(BootstrapPosition)
        /// The client has the set's data once it has this page.
        case last
        /// The set cannot be a view, or not now; the one before stays in force.
        case refused(String)
        /// The client has to come up to the latest version first, under the set in force.
        case behind
        /// The client may have kept a part of the set's data from a connection that was lost. Its session has to end, so that it forgets that.
        case begunElsewhere
    }

    package var version: UInt64
    package var outcome: Outcome
    /// How much of it is done, from 0 to 1.
    package var progress: Double
    /// Whether a set that is `refused` may be asked for again later as it is; nil: it never can be a view.
    package var passes: Bool?

    package init(version: UInt64, outcome: Outcome, progress: Double) {
        self.version = version
        self.outcome = outcome
        self.progress = progress
    }
}

/// The notice to a client of writes that do not count: before it is sent what undoes them, or, where there is nothing to undo, after its upload
/// was acknowledged.
package struct CompensationNotice: Codable, Sendable, Equatable {
    package struct Update: Codable, Sendable, Equatable {
        package var className: String
        /// The key, as stores have it.
        @HexBytes package var key: [UInt8]
        package var reason: String

        package init(className: String, key: [UInt8], reason: String) {
            self.className = className
            _key = HexBytes(key)
            self.reason = reason
        }
    }

    /// The version of the last entry that undoes the writes.
    package var version: ServerVersion
    package var clientVersion: ClientVersion
    package var updates: [Update]
    /// True: the writes are of asymmetric classes, of which the client keeps nothing. Absent: they are undone.
    package var isIngest: Bool?

    package init(
        version: ServerVersion, clientVersion: ClientVersion, updates: [Update], isIngest: Bool? = nil
    ) {
        self.isIngest = isIngest
        self.version = version
        self.clientVersion = clientVersion
        self.updates = updates
    }
}

/// A realm's schema, for gateways to read views by.
package struct ViewSchema: Codable, Sendable, Equatable {
    /// Tells it from others.
    package var stamp: UInt64
    /// The schema as stores have it. Not in the JSON of a page: the bytes follow behind.
    package var body: [UInt8] = []

    private enum CodingKeys: String, CodingKey { case stamp }

    package init(stamp: UInt64, body: [UInt8]) {
        self.stamp = stamp
        self.body = body
    }
}

/// The part of a page that only a flexible realm's has.
package struct ViewPart: Codable, Sendable, Equatable {
    /// The notices of those compensating writes in the page of which the client is told.
    package var compensations: [CompensationNotice]
    /// Nil in steady state.
    package var bootstrap: BootstrapPart?
    /// If the gateway has another.
    package var schema: ViewSchema?

    package init(compensations: [CompensationNotice] = [], bootstrap: BootstrapPart? = nil) {
        self.compensations = compensations
        self.bootstrap = bootstrap
    }
}
