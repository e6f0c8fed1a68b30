/// The bounds of trying objects on subscriptions and roles, in steps of about three nanoseconds (`EvaluationMeter`). The SDK's own queries
/// have no bound.
package struct EvaluationLimits: Sendable {
    /// The steps that one set, with its user's roles, may take on one object: about 32 MB of text that is searched, or four million values that are
    /// compared. Beyond, the set is refused, or ends.
    package var stepsPerObject = 1 << 25

    // At an owner.

    /// The steps that one object may take of its slice's time before it is tried beside the slice, and what all objects that a message asks of may
    /// take before the rest waits for the message's next turn.
    package var stepsPerTrialInSlice = 1 << 20
    package var stepsInSlice = 1 << 22
    /// Trials that take less are made again when their message is begun anew, and are not remembered.
    package var stepsRemembered = 1 << 12
    /// The bytes of sets and roles that a message has read in its slice; more are read beside it.
    package var bytesReadInSlice = 16 << 10
    /// The steps that a page takes of its slice's time before it ends, with less in it than it might have.
    package var stepsPerPage = 1 << 22
    /// The steps that the answer to one request may take where it cannot be sent in pages.
    package var stepsPerRequest = 1 << 26
    /// The steps that judging one upload may take, as merging it may; beyond, its client must reset.
    package var stepsPerUpload = 500_000_000

    // At a gateway. Who goes beyond asks the owner what a commit means for it.

    /// The steps that one set may take of one commit.
    package var stepsPerSet = 1 << 18
    /// The steps of these that every set may take whatever the others of its realm take.
    package var stepsPerSetAtLeast = 1 << 12
    /// The steps that all sets of one realm may take beyond that at once, and how much of it comes back in a millisecond.
    package var stepsPerRealm = 1 << 22
    package var stepsPerRealmAndMillisecond = 1 << 16

    package init() {}
}
