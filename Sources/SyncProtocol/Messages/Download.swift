package import SyncModel

/// DOWNLOAD: history for the client, and the only acknowledgement of its uploads.
package struct Download: Hashable, Sendable {
    package var session: SessionIdent
    package var progress: SyncProgress
    package var detail: DownloadDetail
    package var entries: [HistoryEntry]

    package init(session: SessionIdent, progress: SyncProgress, detail: DownloadDetail, entries: [HistoryEntry] = []) {
        self.session = session
        self.progress = progress
        self.detail = detail
        self.entries = entries
    }

    /// Partition mode: an estimate of the bytes still to come.
    package var downloadableBytes: UInt64? { if case .partition(let bytes) = detail { bytes } else { nil } }
    /// Flexible mode: where in which subscription set's data this is.
    package var batch: FlexibleBatch? { if case .flexible(let batch) = detail { batch } else { nil } }
}

/// The part of a DOWNLOAD's head that differs between the modes.
package enum DownloadDetail: Hashable, Sendable {
    case partition(downloadableBytes: UInt64)
    case flexible(FlexibleBatch)

    package var mode: SyncMode {
        switch self {
        case .partition: .partition
        case .flexible: .flexible
        }
    }
}

/// The subscription set that a flexible DOWNLOAD serves, and how far the DOWNLOAD is.
package struct FlexibleBatch: Hashable, Sendable {
    package var queryVersion: QueryVersion
    package var state: BatchState
    /// 0 to 1; 1 in steady state when caught up.
    package var progress: Double

    package init(queryVersion: QueryVersion, state: BatchState, progress: Double) {
        self.queryVersion = queryVersion
        self.state = state
        self.progress = progress
    }
}

/// Where a flexible DOWNLOAD stands. Peers before version 14 know only "last" or not.
package enum BatchState: Int, Sendable {
    case moreToCome = 0
    case lastInBatch = 1
    case steadyState = 2

    package var isBootstrap: Bool { self != .steadyState }

    /// The state as a build before version 14 takes it: "last" for the active set is steady state to it.
    package func resolvedBeforeBatchStates(queryVersion: QueryVersion, active: QueryVersion) -> BatchState {
        self == .lastInBatch && queryVersion == active ? .steadyState : self
    }
}
