internal import Hummingbird
internal import Logging
internal import NIOCore

/// What comes with a request: its connection, so that a fault can drop it.
struct EmulatorContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
