import SeededRandom
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// When a realm tries again, and what the app hears of its device's storage.
struct SyncRetriesTests {
    private let retries = SyncRetries()

    @Test func onlyTheFirstOfSeveralFailuresIsNews() throws {
        var random = SeededGenerator(seed: 1)
        let first = try #require(retries.failed(at: .download, using: &random))
        let second = try #require(retries.failed(at: .upload, using: &random))
        expectTrue(first.isFirst && !second.isFirst && second.delay > first.delay)
        // What works now is not what failed last.
        retries.succeeded(at: .download)
        expectTrue(!retries.isInterrupted(.download) && retries.isInterrupted(.upload))
        let third = try #require(retries.failed(at: .download, using: &random))
        expectTrue(!third.isFirst && third.delay > second.delay)
    }

    @Test func delaysBeginAnewOnceEverythingIsDone() throws {
        var random = SeededGenerator(seed: 1)
        let first = try #require(retries.failed(at: .download, using: &random)).delay
        _ = retries.failed(at: .upload, using: &random)
        retries.succeeded(at: .upload)
        retries.succeeded(at: .download)
        let again = try #require(retries.failed(at: .merge, using: &random))
        expectTrue(again.isFirst && again.delay < first * 2)
    }

    @Test func anErrorThatIsNotToBeTriedAgainHasNoDelay() {
        var random = SeededGenerator(seed: 1)
        let final = JSONErrorBody(message: "", action: .applicationBug, tryAgain: false)
        expectTrue(retries.delay(after: .otherSessionError, final, using: &random) == nil)
        let passing = JSONErrorBody(message: "", action: .transient, tryAgain: true)
        expectTrue(retries.delay(after: .otherSessionError, passing, using: &random) != nil)
    }
}
