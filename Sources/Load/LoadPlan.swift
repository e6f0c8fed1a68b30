package import SyncModel

/// The plan of clients in a test of a gateway: how many, of which kind, and how much they write.
package struct LoadPlan: Sendable {
    package var app: String
    package var mode: SyncMode
    package var clients: Int
    /// Clients that share a realm, or in flexible mode a part of the realm that they subscribe to; 1: each has its own.
    package var sharing: Int
    /// Changesets that each client writes a second.
    package var rate: Double
    /// Objects in a changeset, and bytes of text in an object.
    package var objects: Int
    package var bytes: Int
    /// Clients that begin to connect in a second.
    package var connectRate: Double
    /// Writing before the measuring begins, the measuring, and the longest wait for what is still under way at the end.
    package var warmUp: Duration
    package var duration: Duration
    package var patience: Duration
    /// Keeps the realms of one run apart from those of another.
    package var run: String

    package init(
        app: String, mode: SyncMode = .partition, clients: Int, sharing: Int = 1, rate: Double = 1, objects: Int = 1,
        bytes: Int = 100, connectRate: Double = 50, warmUp: Duration = .seconds(3), duration: Duration = .seconds(30),
        patience: Duration = .seconds(30), run: String
    ) {
        self.app = app
        self.mode = mode
        self.clients = clients
        self.sharing = max(1, sharing)
        self.rate = rate
        self.objects = objects
        self.bytes = bytes
        self.connectRate = connectRate
        self.warmUp = warmUp
        self.duration = duration
        self.patience = patience
        self.run = run
    }

    /// How many realms there are, or parts of the one realm.
    package var groups: Int { (clients + sharing - 1) / sharing }

    package func group(of client: Int) -> Int { client / sharing }

    /// The partition, or what the objects of a part of the flexible realm have in common.
    package func name(ofGroup group: Int) -> String { "load-\(run)-\(group)" }

    /// The subscriptions of a client in flexible mode.
    package func queries(of client: Int) -> [String: String] {
        [LoadWrites.className: "\(LoadWrites.group) == '\(name(ofGroup: group(of: client)))'"]
    }
}
