/// The work that a client has done since it was made.
package struct PostgresStatistics: Sendable, Equatable {
    /// Pipelines sent: each waits for the server once.
    package var roundTrips = 0
    /// Statements in them, without the beginnings and ends of transactions.
    package var statements = 0
    /// Connections made.
    package var connects = 0
    /// Connections lost.
    package var losses = 0
    /// Transactions that another one stood in the way of, and that were done again.
    package var conflicts = 0
}
