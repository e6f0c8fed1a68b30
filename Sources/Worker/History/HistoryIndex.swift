import Merge
import SyncModel

/// The index of which versions of a realm's latest history touch what, so that an upload is merged with those that it
/// could conflict with and nothing is read of the others.
///
/// Versions before `base` are not in the index: their digests in the store say the same.
struct HistoryIndex {
    /// A segment that has as many postings is followed by another; the oldest go as a whole.
    private static let segmentPostings = 1 << 15

    private var segments: [IndexSegment] = []
    private(set) var base: ServerVersion
    private(set) var bytes = 0
    /// All versions after `soleSince` are by `soleOrigin`.
    private var soleOrigin: FileIdent = 0
    private var soleSince: ServerVersion

    init(after latest: ServerVersion) {
        base = latest
        soleSince = latest
    }

    /// Appends the version that follows.
    mutating func append(origin: FileIdent, _ touches: Touches) {
        let latest = segments.last?.through ?? base
        if origin != soleOrigin {
            soleOrigin = origin
            soleSince = latest
        }
        if segments.last.map({ $0.postings >= Self.segmentPostings }) ?? true {
            segments.append(IndexSegment(after: latest))
        }
        let last = segments.count - 1
        bytes -= segments[last].bytes
        segments[last].append(origin: origin, touches)
        bytes += segments[last].bytes
    }

    /// Puts older versions in, which end where these begin.
    mutating func prepend(_ segment: IndexSegment) {
        guard segment.through == base, segment.after < base else { return }
        segments.insert(segment, at: 0)
        base = segment.after
        bytes += segment.bytes
    }

    /// Whether one author has written everything after a version, as far as is known here.
    func isAll(by origin: FileIdent, after version: ServerVersion) -> Bool {
        soleOrigin == origin && soleSince <= version
    }

    /// Adds the versions after `version` that are here, touch one of the keys or erase schema, and are not by `origin`; in
    /// no order, and possibly more than once.
    func collect(
        _ keys: [UInt32], after version: ServerVersion, notBy origin: FileIdent, into found: inout [ServerVersion]
    ) {
        for segment in segments.reversed() {
            guard segment.through > version else { return }
            segment.collect(keys, after: version, notBy: origin, into: &found)
        }
    }

    /// Forgets the oldest until `maxBytes` are left.
    mutating func trim(to maxBytes: Int) {
        while bytes > maxBytes, let first = segments.first {
            bytes -= first.bytes
            base = first.through
            segments.removeFirst()
        }
    }
}
