/// What can be done to a cluster, by what it stands for in a machine room.
enum Fault: String, CaseIterable, Codable, Sendable {
    /// SIGKILL, and a start after the pause.
    case killWorker, killGateway, killCoordinator
    /// SIGTERM, an orderly end, and a start after the pause.
    case stopWorker, stopGateway
    /// SIGSTOP for longer than the heartbeat, then SIGCONT.
    case pauseWorker, pauseGateway, pauseCoordinator
    /// The broker is killed, or stopped in good order, and started again on its data.
    case killBroker, restartBroker
    /// The broker closes every connection.
    case dropConnections
    /// A slice's queue is deleted with all that is in it.
    case deleteSliceQueue
    /// The broker's memory alarm blocks publishers.
    case memoryAlarm
    /// Nothing passes between a process and the broker, or between clients and gateways, and nobody is told.
    case cutWorker, cutGateway, cutClients
    /// What was published to the slices is published a second time, later.
    case duplicateDeliveries
    /// The store's disk is full. Needs a file system of the run's own, so root.
    case fillDisk
    /// A worker or the coordinator comes back with a clock that is wrong.
    case moveClock
    /// Sync of the app that is there for it is terminated and enabled again.
    case terminate
}
