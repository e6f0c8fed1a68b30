/// What can be done to a cluster on several hosts.
enum HostFault: String, CaseIterable, Codable, Sendable {
    /// A host's cable is pulled, and put back: nothing reaches it, nor it anything, and everything on it goes on.
    case cutHost
    /// Two hosts do not reach each other; both reach all others.
    case cutPair
    /// What one host sends to another is lost; it hears the other.
    case cutOneWay
    /// What a host sends passes slowly.
    case slowHost
    /// A part of what a host is sent is lost.
    case lossyHost
    /// SIGKILL to a broker node, or SIGSTOP and SIGCONT.
    case killNode, pauseNode
    /// The database's primary is killed, and its standby takes over.
    case killPrimary
    /// A host loses its power and its cable; its part of the database is taken over; later it comes back.
    case loseHost
    /// Sync of the app that is there for it is terminated and enabled again, while one host does not reach another.
    case terminate
}
