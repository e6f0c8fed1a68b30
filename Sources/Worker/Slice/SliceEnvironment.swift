import Logging
import Messages
import Storage
import SyncModel

/// The surroundings of an owner, the same for as long as it owns its slice.
struct SliceEnvironment: Sendable {
    let store: any SliceStore
    let epoch: Epoch
    let apps: AppSettings
    let topology: Topology
    /// The number of the cluster's slices; nil for an owner that is used alone.
    let slices: SliceCount?
    let limits: WorkerLimits
    let held: ResetHolds
    let activity: ActivityTally
    let clock: WorkerClock
    let metrics: WorkerMetrics
    let logger: Logger
}

/// A part of what an owner does with messages. What it changes goes into the unit of work, and nowhere else.
protocol SlicePart {
    var work: SliceWork { get }
}

extension SlicePart {
    var store: any SliceStore { work.environment.store }
    var slice: SliceNumber { store.slice }
    var apps: AppSettings { work.environment.apps }
    var limits: WorkerLimits { work.environment.limits }
    var clock: WorkerClock { work.environment.clock }
    var metrics: WorkerMetrics { work.environment.metrics }
    var activity: ActivityTally { work.environment.activity }
    var logger: Logger { work.environment.logger }

    var admittance: Admittance { Admittance(work: work) }
    var inference: Inference { Inference(work: work) }
    var resets: ClientFileReset { ClientFileReset(work: work) }
}
