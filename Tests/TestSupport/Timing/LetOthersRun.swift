internal import Foundation

/// Lets other threads and processes run before a test looks again whether something has happened for which there is no event.
///
/// `Task.yield` alone would keep the only processor of a machine busy: what the test waits for would hardly run.
package func letOthersRun() async {
    // The time means nothing: the condition decides.
    _ = poll(nil, 0, 1)
    await Task.yield()
}
