import AdminAPI
import Foundation
import HTTPTypes
import Hummingbird
import Inspection
import NIOCore
import Storage
import SyncModel

/// `realms/verify`: whether stored histories agree with stored states, as server-sent events.
struct VerificationRoutes: Sendable {
    let context: CoordinatorContext
    private let places = EventPlaces(
        AdminLimits.verifications, of: "verifications are under way", code: "too_many_searches")

    /// How long a request waits for a place.
    private static let patience = Duration.seconds(30)

    init(context: CoordinatorContext) { self.context = context }

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.on(.get, .realmsVerification) { request, _ in
            let (app, name) = try wanted(request)
            let stores = try await context.stores(for: ", from which realms are verified")
            if let name {
                guard try await stores.reader(of: name, in: context.slices)?.realm(name) != nil else {
                    throw AdminError.noRealm(name)
                }
            }
            let place = try await place()
            let patience = context.configuration.stalledReader
            return place.response(headers: [.contentType: "text/event-stream", .cacheControl: "no-store"]) { writer in
                var patient: any ResponseBodyWriter = PatientWriter(writer, patience: patience)
                do {
                    let stream = VerificationStream(stores: stores, slices: context.slices)
                    try await stream.write(app: app, name, to: &patient)
                } catch let error as StalledReader {
                    throw error
                } catch {
                    let answer = AdminError(error)
                    try await patient.write(ServerSentEvent(error: answer.code, answer.message).buffer)
                }
            }
        }
    }

    /// - Returns: the app, nil for all; and the one realm, nil for all of the app.
    private func wanted(_ request: Request) throws(AdminError) -> (app: String?, name: RealmName?) {
        let app = AdminRequest.query(.app, request)
        let choice = try RealmChoice(request)
        guard choice.partition != nil || choice.flexible == true else { return (app, nil) }
        guard let app else { throw .invalid("app: expected the realm's app") }
        guard choice.partition == nil || choice.flexible == nil else {
            throw .invalid("flexible: the flexible realm has no partition; name one of the two")
        }
        let name = choice.partition.map { RealmName(app: app, partition: RealmName.partition(fromText: $0)) }
        return (app, name ?? RealmName(flexible: app))
    }

    private func place() async throws -> EventPlaces.Token {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do throws(AdminError) {
                return try places.require()
            } catch {
                guard ContinuousClock.now < deadline else { throw error }
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

/// Verifies realms one after the other, and tells how far it is.
struct VerificationStream {
    let stores: SliceStores
    let slices: SliceCount

    private static let period = Duration.seconds(1)

    private struct Progress: Encodable {
        var app: String
        var partition: String
        /// Bytes of history that were replayed.
        var done: UInt64
        var of: UInt64
    }

    private struct End: Encodable { var realms: Int }

    /// - Parameters:
    ///   - app: nil: all apps.
    ///   - name: nil: all realms.
    func write(app: String?, _ name: RealmName?, to writer: inout any ResponseBodyWriter) async throws {
        var realms = 0
        if let name {
            guard let reader = try await stores.reader(of: name, in: slices) else { throw AdminError.noRealm(name) }
            if try await tell(name, in: reader, to: &writer) { realms += 1 }
        } else {
            for slice in stores.slices {
                let reader = try await stores.inspector.reader(for: slice)
                try await reader.forEachRealm(app: app) { record in
                    if try await tell(record.name, in: reader, to: &writer) { realms += 1 }
                }
            }
        }
        try await writer.write(Self.event("end", End(realms: realms)))
    }

    /// - Returns: false if there is no such realm any more.
    private func tell(
        _ name: RealmName, in reader: any SliceReader, to writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        let (steps, step) = AsyncStream<Progress>.makeStream(bufferingPolicy: .bufferingNewest(1))
        // A task of its own, so that a client which reads slowly does not hold up what has a snapshot of the store.
        let verification = Task {
            defer { step.finish() }
            var told = ContinuousClock.now
            return try await RealmVerifier.verify(name, in: reader) { done, total in
                guard told.duration(to: .now) >= Self.period else { return }
                told = .now
                step.yield(Progress(app: name.app, partition: name.partition, done: done, of: total))
            }
        }
        defer { verification.cancel() }
        let verdict = try await withTaskCancellationHandler {
            for await progress in steps { try await writer.write(Self.event("progress", progress)) }
            return try await verification.value
        } onCancel: {
            verification.cancel()
        }
        guard let verdict else { return false }
        try await writer.write(Self.event("verdict", verdict))
        return true
    }

    private static func event(_ name: String, _ data: some Encodable) throws -> ByteBuffer {
        ServerSentEvent(name, data: Array(try AdminResponse.encoder.encode(data))).buffer
    }
}
