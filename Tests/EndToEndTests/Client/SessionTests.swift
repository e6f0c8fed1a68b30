import DeviceSync
import Dispatch
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

extension SharedClusterTests {
    /// Sessions of apps at a running cluster, whose gateway goes and comes.
    @MainActor @Suite struct SessionTests {
        @Test(.ownGateway) func realmsOfAUserShareAConnectionUnlessTheAppWantsOneForEach() async throws {
            let cluster = try SharedCluster.cluster
            let gateway = try TestGateway.mine
            let shared = try await cluster.newApp()
            let single = try await cluster.newApp()
            func expectConnections(_ count: Double) async throws {
                try await eventually("\(count) connections are open") {
                    try await gateway.metric("sluice_gateway_connections") == count
                }
            }
            func open(_ user: User, _ count: Int) async throws -> [Phone] {
                var phones: [Phone] = []
                for number in 0..<count {
                    phones.append(try await Phone(user, user.configuration(partitionValue: number)))
                }
                return phones
            }
            let first = try await open(try await Phone.user(of: shared), 3)
            try await expectConnections(1)
            expectTrue(
                first[0].user.allSessions.count == 3 && first.allSatisfy { $0.realm.syncSession?.state == .active })
            // Where everything is connected there is nothing to try again.
            let states = Mutex<[SyncSession.ConnectionState]>([])
            let token = try first[0].session.observeConnectionState { state in states.withLock { $0.append(state) } }
            try first[0].session.reconnect()
            try first[0].add("a")
            try await first[0].upload()
            try expectTrue(first[0].session.connectionState == .connected && states.withLock { $0.isEmpty })
            token.invalidate()
            let second = try await open(try await Phone.user(of: shared), 1)
            try await expectConnections(2)
            let third = try await open(try await Phone.user(of: single, isMultiplexing: false), 2)
            try await expectConnections(4)
            withExtendedLifetime((first, second, third)) {}
        }

        @Test func aSuspendedRealmRestsAndTheOthersOfItsUserGoOn() async throws {
            let app = try await SharedCluster.cluster.newApp()
            let user = try await Phone.user(of: app)
            let other = try await Phone.user(of: app)
            var resting: Phone? = try await Phone(user, user.configuration(partitionValue: "resting"))
            let going = try await Phone(user, user.configuration(partitionValue: "going"))
            let restingThere = try await Phone(other, other.configuration(partitionValue: "resting"))
            let goingThere = try await Phone(other, other.configuration(partitionValue: "going"))
            try await resting?.suspend()
            try resting?.add("kept here")
            try going.add("here")
            try restingThere.add("there")
            try goingThere.add("there")
            for phone in [going, restingThere, goingThere] { try await phone.upload() }
            for phone in [going, restingThere, goingThere] { try await phone.download() }
            expectTrue(resting?.ids == ["kept here"] && restingThere.ids == ["there"])
            expectTrue(going.ids == ["here", "there"] && goingThere.ids == going.ids)

            // Suspension is not kept: whoever opens the realm anew, or downloads first, syncs.
            resting = nil
            let again = try await Phone(
                user, user.configuration(partitionValue: "resting"), downloadBeforeOpen: .always)
            try await again.upload()
            try again.session.resume()
            try await restingThere.download()
            expectTrue(again.ids == ["kept here", "there"] && restingThere.ids == again.ids)
        }

        @Test func aWaitCallsBackOnceOnTheQueueThatItWasGiven() async throws {
            let app = try await SharedCluster.cluster.newApp()
            let phone = try await Phone(of: app)
            let queue = DispatchQueue(label: "waits")
            let calls = Mutex<[String]>([])
            try phone.add("a")
            try phone.session.wait(for: .upload, queue: queue) { error in
                dispatchPrecondition(condition: .onQueue(queue))
                calls.withLock { $0.append("upload \(error.map { "\($0)" } ?? "done")") }
            }
            try await eventually("the block is called") { calls.withLock { !$0.isEmpty } }
            try phone.session.wait(for: .download, queue: queue) { error in
                calls.withLock { $0.append("download \(error.map { "\($0)" } ?? "done")") }
            }
            try await eventually("the other block is called") { calls.withLock { $0.count } > 1 }
            let other = try await Phone(of: app)
            expectEqual(other.ids, ["a"])
            expectEqual(calls.withLock { $0 }, ["upload done", "download done"])
        }

        @Test func progressOfUploadsRisesToOne() async throws {
            let app = try await SharedCluster.cluster.newApp()
            let phone = try await Phone(of: app)
            try await phone.suspend()
            for number in 0..<40 {
                try phone.add("\(number)")
                try phone.change("\(number)") { $0.text = String(repeating: "x", count: 10_000) }
            }
            let outstanding = Mutex<[Double]>([])
            let indefinite = Mutex<[Double]>([])
            let session = try phone.session
            let tokens = [
                session.addProgressNotification(for: .upload, mode: .forCurrentlyOutstandingWork) { progress in
                    outstanding.withLock { $0.append(progress.progressEstimate) }
                },
                session.addProgressNotification(for: .upload, mode: .reportIndefinitely) { progress in
                    indefinite.withLock { $0.append(progress.progressEstimate) }
                },
            ]
            session.resume()
            try await eventually("everything is uploaded") {
                outstanding.withLock { $0.last } == 1 && indefinite.withLock { $0.last } == 1
            }
            let all = outstanding.withLock { $0 }
            expectTrue(all.first == 0 && all == all.sorted() && all.count { $0 == 1 } == 1)
            // New work lowers the one, and is none of the other's business.
            let count = indefinite.withLock { $0.count }
            try phone.add("more")
            try await phone.upload()
            try await eventually("the new work is uploaded") {
                indefinite.withLock { $0.dropFirst(count).contains { $0 < 1 } && $0.last == 1 }
            }
            expectEqual(outstanding.withLock { $0 }, all)
            withExtendedLifetime(tokens) {}
        }

        @Test func progressEndsWithTheScopeOfItsToken() async throws {
            let app = try await SharedCluster.cluster.newApp()
            let phone = try await Phone(of: app)
            let calls = Mutex(0)
            func report() throws {
                let token = try phone.session.addProgressNotification(for: .upload, mode: .reportIndefinitely) { _ in
                    calls.withLock { $0 += 1 }
                }
                expectTrue(token != nil)
            }
            try report()
            // What was on its way when the token went has arrived behind this.
            try phone.add("a")
            try await phone.upload()
            let before = calls.withLock { $0 }
            try phone.add("b")
            try await phone.upload()
            expectEqual(calls.withLock { $0 }, before)
        }

        @Test(.ownGateway) func withoutTheServerSessionsTryOnAndTheAppReadsAndWrites() async throws {
            let cluster = try SharedCluster.cluster
            let gateway = try TestGateway.mine
            let app = try await cluster.newApp()
            let phone = try await Phone(of: app)
            let user = phone.user
            let session = try phone.session
            let observed = Mutex<[SyncSession.ConnectionState]>([])
            let observation = session.observe(\.connectionState, options: [.initial]) { session, _ in
                observed.withLock { $0.append(session.connectionState) }
            }
            var streamed = session.connectionStates.makeAsyncIterator()
            await expectTrue(streamed.next() == .connected && observed.withLock { $0 } == [.connected])

            await gateway.kill()
            await expectEqual(streamed.next(), .disconnected)
            await expectEqual(streamed.next(), .connecting)
            expectEqual(session.state, .active)
            try phone.add("a")
            try phone.change("a") { $0.count += 1 }
            expectEqual(phone.contents, ["a: first, 2"])

            // The file is opened as it is; an opening that downloads gives up where the app wants that.
            let again = try await Phone(user, user.configuration(partitionValue: "home"), downloadBeforeOpen: .once)
            expectEqual(again.contents, phone.contents)
            await #expect(throws: (any Error).self) {
                _ = try await Phone(
                    user, user.configuration(partitionValue: "elsewhere", cancelAsyncOpenOnNonFatalErrors: true),
                    downloadBeforeOpen: .always)
            }
            // A wait that cannot end fails when the app suspends the session.
            let waits = Mutex<[Bool]>([])
            session.wait(for: .upload, queue: .main) { error in waits.withLock { $0.append(error != nil) } }
            try await phone.suspend()
            try await eventually("the wait fails") { waits.withLock { $0 } == [true] }

            try await gateway.start()
            // Without waiting for the end of the back-off.
            session.resume()
            try await session.wait(for: .upload)
            expectEqual(session.connectionState, .connected)
            let other = try await Phone(of: app)
            expectEqual(other.contents, ["a: first, 2"])
            observation.invalidate()
            let count = observed.withLock { $0.count }
            try await phone.suspend()
            expectTrue(observed.withLock { $0.count } == count && count >= 4)
        }

        @Test(.ownGateway) func aSilentConnectionIsKeptUntilItIsKnownToBeDead() async throws {
            let cluster = try SharedCluster.cluster
            let gateway = try TestGateway.mine
            let app = try await cluster.newApp()
            let user = try await Phone.user(of: app, pings: 5000)
            let phone = try await Phone(user, user.configuration(partitionValue: "home"))
            let session = try phone.session
            var states = session.connectionStates.makeAsyncIterator()
            await expectEqual(states.next(), .connected)
            gateway.pause()
            let start = ContinuousClock.now
            // As far as anybody knows, the connection is there.
            session.reconnect()
            try phone.add("a")
            await expectEqual(states.next(), .disconnected)
            expectTrue(ContinuousClock.now - start >= .seconds(4))
            gateway.resume()
            try await phone.upload()
            let other = try await Phone(of: app)
            expectEqual(other.ids, ["a"])
        }
    }
}
