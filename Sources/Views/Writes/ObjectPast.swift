package import RealmState
package import SyncModel

/// The past of one object since the oldest version that an upload's changesets are based on, as far as judging them needs it: of each view
/// when it last lacked the object, and not how the object was. So it takes as much room as the client has had views, however often the
/// object was touched, and each changeset is judged without going through that again. Pure.
///
/// `PastReader` makes it of what is stored; what the upload's own changesets do is appended.
package struct ObjectPast: Sendable {
    /// Whether the client had the object where a changeset is based: nil if not, else whether every view that it has had since had it, too.
    struct Standing: Sendable {
        /// If the client goes on with the object.
        var knowing: Bool?
        /// If the client makes it.
        var making: Bool?
    }

    /// The realm's latest version when the past was read.
    let latest: ServerVersion
    let hasViews: Bool
    /// The standings, by the changesets' bases.
    var standings: [ServerVersion: Standing] = [:]
    /// The version since which the object was lacked, at the last time that a view in force lacked it.
    var lackedSince: ServerVersion?
    /// The version after which EraseObject may have been sent to a client that has seen no more than this.
    var erasedAfter: ServerVersion?
    /// The version after which the object may have been sent anew to a client that has seen no more than this, though the object was in the
    /// client's view at both ends.
    var replacedAfter: ServerVersion?
    /// The last version by which the client has made or erased the object itself.
    var own: (version: ServerVersion, exists: Bool)?
    /// The object as it was before the last version that touches it and before which it was there.
    var last: (version: ServerVersion, object: StoredObject)?
    /// Whether a view that is in force at `latest` has the object.
    var isShown = false
    /// Whether the object exists, and the present view has it.
    package internal(set) var isThere = false
    package internal(set) var isInView = false

    /// Makes the past of an object that does not exist, and has not existed as far as the client can know.
    ///
    /// - Parameter hasViews: whether the client has had any views.
    package init(latest: ServerVersion, hasViews: Bool) {
        self.latest = latest
        self.hasViews = hasViews
    }

    /// The version by which the client has made or erased the object itself, if it is later than a base. What others did to the object before it is
    /// nothing to the client's later writes: these are not transformed past it.
    package func ownSince(_ base: ServerVersion) -> ServerVersion? {
        own.flatMap { $0.version > base ? $0.version : nil }
    }

    /// The object as it was when it was last there, if a version after a base has touched it since.
    package func last(after base: ServerVersion) -> StoredObject? {
        last.flatMap { $0.version > base ? $0.object : nil }
    }

    /// A version that is made now touches the object.
    ///
    /// - Parameters:
    ///   - before: the object before it; nil if there was none.
    ///   - isThere: whether the object exists after it.
    ///   - isInView: whether the present view has it then.
    package mutating func append(
        _ version: ServerVersion, isOwn: Bool, before: StoredObject?, isThere: Bool, isInView: Bool
    ) {
        let was = version - 1 == latest ? isShown : self.isInView
        if hasViews, !isInView {
            if was, !(isOwn && !isThere) { erasedAfter = version - 1 }
            lackedSince = version
        }
        if isOwn, self.isThere != isThere { own = (version, isThere) }
        if let before { last = (version, before) }
        self.isThere = isThere
        self.isInView = isInView
    }

    // MARK: Judging

    /// Judges what the client has done to the object (`WriteVerdict`).
    ///
    /// - Parameters:
    ///   - base: the version that the write is based on; one of those that the past was read for.
    ///   - mayBeRecovered: whether the client may have made the write before a reset, and go on with it.
    package func verdict(
        on write: ObjectWrite, basedOn base: ServerVersion, mayBeRecovered: Bool = false
    ) -> WriteVerdict {
        // A client that erases the object first knew of it, also if another object takes its place.
        let knew = !write.creates || write.beginsWithErasure
        var hadIt = false
        var always = false
        if let own, own.version > base {
            hadIt = own.exists
            always = hadIt && lackedSince.map { $0 < own.version } ?? true
        } else if let standing = standings[base], let stood = knew ? standing.knowing : standing.making {
            hadIt = true
            always = stood && lackedSince.map { $0 <= latest } ?? true
            // What a client recovers is no sign that its fresh copy has the object. If only the newer of two views has it, the newer one's data have
            // brought it, over the client's write and with a later time.
            if mayBeRecovered, standing.making == nil { always = false }
        }
        let wasReplaced = replacedAfter.map { base <= $0 } ?? false
        if hadIt, always || knew {
            // At the client an erasure that came for the object may have taken the place of the client's own, so that what came with it
            // outlives both.
            return .merge(resyncs: (isInView || write.erases) && (!always || wasReplaced))
        }
        guard write.creates else { return .refuse }
        if !isThere {
            let wasErased = erasedAfter.map { base <= $0 } ?? false
            return .insert(resyncs: hadIt || wasErased || wasReplaced)
        }
        return isInView ? .giveWay : .refuse
    }
}
