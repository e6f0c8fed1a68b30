import DeviceSync
import Dispatch
import LocalCluster
import Synchronization
import TestSupport
import Testing

extension ShakenClusterTests {
    /// Sessions whose user logs out.
    @MainActor @Suite struct LogoutTests {
        /// Nothing more will come of what the app waits for, so it is told. The realm stays, and what was written goes up when the user
        /// is back.
        @Test func aWaitFailsWhenItsUserLogsOut() async throws {
            let cluster = try SharedCluster.cluster
            let app = try await cluster.newApp()
            let user = try await Phone.user(of: app, person: "somebody")
            let phone = try await Phone(user, user.configuration(partitionValue: "home"))
            let session = try phone.session
            // Nobody takes anything up.
            for worker in ["worker-1", "worker-2"] { cluster.pause(worker) }
            try phone.add("a")
            let calls = Mutex<[Bool]>([])
            session.wait(for: .upload, queue: .main) { error in calls.withLock { $0.append(error != nil) } }
            try await user.logOut()
            try await eventually("the wait fails") { calls.withLock { $0 } == [true] }
            expectTrue(!user.isLoggedIn && session.state == .inactive && session.connectionState == .disconnected)
            try phone.add("b")

            for worker in ["worker-1", "worker-2"] { cluster.resume(worker) }
            try await expectEqual(Phone.user(of: app, person: "somebody"), user)
            try await phone.upload()
            let other = try await Phone(of: app)
            expectTrue(other.ids == ["a", "b"] && calls.withLock { $0.count } == 1)
        }
    }
}
