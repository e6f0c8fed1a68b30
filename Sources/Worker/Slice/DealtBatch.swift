/// What an owner has done with one batch.
package struct DealtBatch: Sendable {
    /// The messages to be published before the messages that were dealt with are acknowledged.
    package var publications: [Publication] = []
    /// The indices of the messages that have to wait for a later batch, ascending.
    package var left: [Int] = []
    /// What the messages have held up the slice for, in steps of merging, as far as that is counted.
    package var cost: UInt64 = 0
    /// Whether nothing was dealt with: no message may go yet.
    package var isIdle = false
}
