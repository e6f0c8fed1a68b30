internal import Dispatch
internal import Foundation

/// The thread, queue or actor to which a live realm belongs, with its objects and collections.
enum Confinement: Sendable {
    /// The main queue, and with it the main actor and, before `dispatchMain()`, the main thread.
    case main
    case thread(pthread_t)
    case queue(DispatchQueue)
    case actor(any Actor)

    /// Where the caller runs; nil in a task outside of any actor, which goes on with another thread after each `await`: so does an asynchronous `main`, which begins on the
    /// main thread.
    static func here(_ isolation: (any Actor)? = nil) -> Confinement? {
        if let isolation { return Confinement(isolation) }
        guard withUnsafeCurrentTask(body: { $0 == nil }) else { return nil }
        return isOnMain ? .main : .thread(pthread_self())
    }

    init(_ actor: any Actor) { self = actor is MainActor ? .main : .actor(actor) }

    /// Nil for a concurrent queue of the system's, which is no place of its own.
    init?(_ queue: DispatchQueue) {
        // The main queue has a new object each time that it is asked for.
        guard queue.label != DispatchQueue.main.label else {
            self = .main
            return
        }
        guard !queue.label.hasPrefix("com.apple.root.") else { return nil }
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(queue))
        self = .queue(queue)
    }

    /// The key by which code finds out on which queue it runs.
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    /// Marks the main queue by the key, which a queue of an app never has.
    private static let mainMark: ObjectIdentifier = {
        let mark = ObjectIdentifier(MainActor.self)
        DispatchQueue.main.setSpecific(key: key, value: mark)
        return mark
    }()

    /// The main queue leaves the main thread when a program calls `dispatchMain()`, as an asynchronous `main` does.
    private static var isOnMain: Bool {
        // Made before the queue is asked for it.
        let mark = mainMark
        return DispatchQueue.getSpecific(key: key) == mark || Thread.isMainThread
    }

    /// Whether blocks can be sent to the place.
    var place: DeliveryPlace? {
        switch self {
        case .main: .queue(.main)
        case .thread: nil
        case .queue(let queue): .queue(queue)
        case .actor(let actor): .actor(actor)
        }
    }

    func isSame(as other: Confinement?) -> Bool {
        switch (self, other) {
        case (.main, .main): true
        case (.thread(let one), .thread(let other)): pthread_equal(one, other) != 0
        case (.queue(let one), .queue(let other)): one === other
        case (.actor(let one), .actor(let other)): one === other
        default: false
        }
    }

    /// Traps unless the caller runs where the realm belongs.
    func check(_ name: @autoclosure () -> String) {
        switch self {
        case .main: precondition(Self.isOnMain, message(name()))
        case .thread(let thread): precondition(pthread_equal(thread, pthread_self()) != 0, message(name()))
        case .queue(let queue):
            precondition(DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue), message(name()))
        // Swift's runtime traps first, with a message of its own that names the actor.
        case .actor(let actor): actor.preconditionIsolated(message(name()))
        }
    }

    private func message(_ name: String) -> String {
        "incorrect thread: \(name) was opened on \(description), and it and its objects can be used there only. Open the realm where it "
            + "is needed, or hand over a frozen object, a ThreadSafeReference or a primary key"
    }

    private var description: String {
        switch self {
        case .main: "the main thread or queue"
        case .thread: "another thread"
        case .queue(let queue): "the queue '\(queue.label)'"
        case .actor(let actor): "the actor \(type(of: actor))"
        }
    }
}

/// Where an observer is called.
enum DeliveryPlace: Sendable {
    case queue(DispatchQueue)
    case actor(any Actor)
    /// Where somebody reads what there is to tell, which is where the realm belongs.
    case reader(Turns)

    /// Calls the block there. Blocks for one queue or actor that are sent one after the other has run run in this order.
    func async(_ block: @escaping @Sendable () -> Void) {
        switch self {
        case .queue(let queue): queue.async(execute: block)
        case .actor(let actor): Task { await actor.run(block) }
        case .reader(let turns): turns.add(block)
        }
    }

    var confinement: Confinement? {
        switch self {
        case .queue(let queue): Confinement(queue)
        case .actor(let actor): Confinement(actor)
        case .reader: nil
        }
    }
}

extension Actor {
    fileprivate func run(_ block: @Sendable () -> Void) { block() }
}

extension RealmInstance {
    /// Traps unless the caller runs where the realm was opened.
    func checkThread() { confinement?.check("the realm \(configuration.placeName)") }

    /// Where observers are called: on the queue that they name, else where the realm belongs, or on the main queue if that is a thread.
    func deliveryPlace(_ queue: DispatchQueue?) -> DeliveryPlace {
        if let queue { return .queue(queue) }
        return confinement?.place ?? .queue(.main)
    }

    /// The instance for observers that are called at a place: this one if it can be used there.
    func delivered(at place: DeliveryPlace) -> RealmInstance {
        if case .reader = place { return self }
        guard let confinement, !confinement.isSame(as: place.confinement) else { return self }
        return RealmInstance(
            core: core, configuration: configuration, session: session, confinement: place.confinement)
    }
}
