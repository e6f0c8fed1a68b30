/// The outcome of one batch: what is to be published, and which messages have to wait.
package struct DealtBatch: Sendable {
    /// The messages to be published before the messages that were dealt with are acknowledged.
    package var publications: [Publication] = []
    /// The indices of the messages that have to wait for a later batch, ascending.
    package var left: [Int] = []
    /// The cost for which the messages have held up the slice, as far as that is counted.
    package var cost: UInt64 = 0
    /// Whether nothing was dealt with: no message may go yet.
    package var isIdle = false
}
