/// The reason why a message went to the dead-letter queue, as its headers say.
package struct DeadLetter: Sendable, Equatable {
    package static let reasonHeader = "x-sluice-reason"
    package static let queueHeader = "x-sluice-queue"
    package static let appHeader = "x-sluice-app"
}
